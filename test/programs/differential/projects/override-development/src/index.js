require('node:http')
  .createServer((_, r) => r.end())
  .listen(3000)
