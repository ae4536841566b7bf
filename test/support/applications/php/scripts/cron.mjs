import { writeFileSync } from 'node:fs'

const work = () => writeFileSync('/var/www/html/cron', 'ran')
work()
setInterval(work, 300_000)
