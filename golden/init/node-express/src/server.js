const app = require('express')()
app.get('/', (_, response) => response.send('hello'))
app.listen(process.env.PORT || 4000)
