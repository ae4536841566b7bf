// Says what it would mail, with the code of the image that it is built on.
import { choose } from './src/choose.mjs'

const { WORDS_URL, VERSION } = process.env

async function send() {
  try {
    const words = await (await fetch(`${WORDS_URL}/words`)).json()
    console.log(`${VERSION}: would mail ${choose(words, 0)}`)
  } catch (error) {
    console.log(`no words yet: ${error.message}`)
  }
}

await send()
setInterval(send, 5000)
process.on('SIGTERM', () => process.exit(0))
