// A client of an MCP server, made with the official TypeScript SDK and led by lines of JSON on standard input (sdk_clients.py has
// the other end). sdk_client.mjs FOLDER 1|2: FOLDER has the node_modules; the package is @modelcontextprotocol/sdk, or
// @modelcontextprotocol/client, which speaks the stateless revision as well.

import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [folder, form] = process.argv.slice(2);
const require = createRequire(pathToFileURL(folder + '/package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)));

async function parts() {
  if (form === '2') {
    const main = await load('@modelcontextprotocol/client');
    const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
    return { ...main, StdioClientTransport, elicitation: 'elicitation/create' };
  }
  const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
  const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const { ElicitRequestSchema } = await load('@modelcontextprotocol/sdk/types.js');
  return { Client, StdioClientTransport, StreamableHTTPClientTransport, elicitation: ElicitRequestSchema };
}

// What a person who agrees to all of it would put into a form.
function filled(schema) {
  const content = {};
  for (const [name, field] of Object.entries(schema?.properties ?? {})) {
    const choices = field.enum ?? (field.oneOf ?? []).map((choice) => choice.const);
    content[name] = field.default ?? choices[0] ?? { boolean: true, string: 'x' }[field.type] ?? 1;
  }
  return content;
}

const say = (message) => process.stdout.write(JSON.stringify(message) + '\n');
let questions = [];

async function open(command) {
  const sdk = await parts();
  const client = new sdk.Client(
    { name: 'gloveport-test', version: '1' },
    { capabilities: command.answer ? { elicitation: {} } : {},
      versionNegotiation: { mode: command.revision >= '2026' ? 'auto' : 'legacy' } });
  if (command.answer) {
    client.setRequestHandler(sdk.elicitation, async (request) => {
      questions.push({ message: request.params.message, schema: request.params.requestedSchema });
      return command.answer === 'accept'
        ? { action: 'accept', content: filled(request.params.requestedSchema) } : { action: command.answer };
    });
  }
  const { url, headers, command: program, env } = command.target;
  const transport = url
    ? new sdk.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
    : new sdk.StdioClientTransport({ command: program[0], args: program.slice(1), env, stderr: 'ignore' });
  await client.connect(transport);
  say({ revision: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null,
        server: client.getServerVersion()?.name });
  return { client, transport };
}

async function call(client, command) {
  const progress = [];
  const stop = new AbortController();
  questions = [];
  const options = {
    signal: stop.signal, timeout: 300_000,
    onprogress: (report) => {
      progress.push(report);
      if (command.cancel) stop.abort('cancelled');
    },
  };
  let said;
  try {
    const params = { name: command.name, arguments: command.arguments };
    said = form === '2' ? await client.callTool(params, options) : await client.callTool(params, undefined, options);
  } catch (error) {
    said = { error: stop.signal.aborted ? 'cancelled' : `${error?.name}: ${error?.message}` };
  }
  return { ...said, progress, questions };
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const next = async () => {
  const { value, done } = await lines.next();
  return done ? { op: 'close' } : JSON.parse(value);
};

try {
  const { client, transport } = await open(await next());
  for (let command = await next(); command.op !== 'close'; command = await next()) {
    say(command.op === 'tools' ? { tools: (await client.listTools()).tools } : await call(client, command));
  }
  await transport.terminateSession?.();
  await client.close();
  say({ closed: true });
} catch (error) {
  say({ error: `${error?.name}: ${error?.message}` });
}
process.exit(0);
