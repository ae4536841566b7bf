require('http').createServer().listen(8080)
