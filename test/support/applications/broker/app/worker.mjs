import { say } from './client.mjs'

const { RABBITMQ_HOST, RABBITMQ_PORT } = process.env
setInterval(async () => {
  const task = await say(RABBITMQ_HOST, RABBITMQ_PORT, 'take')
  if (task !== '') await say(RABBITMQ_HOST, RABBITMQ_PORT, 'ack')
}, 200)
