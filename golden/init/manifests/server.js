require('http').createServer((_, response) => response.end('hello')).listen(3000)
