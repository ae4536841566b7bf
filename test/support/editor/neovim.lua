-- Opens compose.yaml in Neovim with its built-in client of language servers, and writes what it got as JSON.
-- Variables: SERVER (the command as JSON), RESULT (path of the file to write).
local result = {}
local function waited(what, condition)
  if not vim.wait(30000, condition, 20) then
    error('no ' .. what)
  end
end

local function main()
  local client = vim.lsp.start_client({
    name = 'devctl',
    cmd = vim.fn.json_decode(vim.env.SERVER),
    root_dir = vim.fn.getcwd(),
  })
  vim.cmd('edit compose.yaml')
  vim.lsp.buf_attach_client(0, client)
  waited('client', function() return vim.lsp.get_client_by_id(client).initialized end)
  waited('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
  result.diagnostics = vim.tbl_map(function(one)
    return { line = one.lnum, column = one.col, severity = one.severity, message = one.message, code = one.code }
  end, vim.diagnostic.get(0))

  local function ask(method, line, column)
    vim.api.nvim_win_set_cursor(0, { line, column })
    local params = vim.lsp.util.make_position_params(0, 'utf-16')
    local answers = vim.lsp.buf_request_sync(0, method, params, 30000)
    return answers and answers[client] and answers[client].result
  end
  result.hover = ask('textDocument/hover', 3, 6).contents.value
  result.definition = ask('textDocument/definition', 5, 19)
  result.completion = vim.tbl_map(function(item) return item.label end, ask('textDocument/completion', 5, 18).items)

  -- Corrects the text as a user does, without saving it.
  vim.api.nvim_buf_set_text(0, 3, 4, 3, 9, { 'ports' })
  waited('end of the diagnostics', function() return #vim.diagnostic.get(0) == 0 end)
  result.corrected = true

  vim.lsp.stop_client(client)
  waited('end of the server', function() return vim.lsp.get_client_by_id(client) == nil end)
  result.ended = true
end

local isDone, problem = pcall(main)
if not isDone then result.problem = tostring(problem) end
vim.fn.writefile({ vim.fn.json_encode(result) }, vim.env.RESULT)
vim.cmd('qall!')
