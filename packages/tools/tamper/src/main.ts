import { parseArgs } from 'node:util';
import { alignedColumns } from '@cpg/platform';
import pg from 'pg';
import { findTarget } from './target.ts';
import { WAYS } from './ways.ts';

const USAGE = `Usage: npm run tamper -- <way> --yes-destroy-this-copy [options]
       npm run tamper -- --list

Changes the databases of a local stack in one way, as somebody would who has all rights on them.
Never run it on data that you need: services that run may fail afterwards.

  --list            the ways
  --database <url>  the database of the services (default: DATABASE_URL); the event store is the
                    database "eventstore" of the same server
  --order <id>      the order to change (default: the first one with an applied payment)
  --kept-size <n>   for removed-checkpoints: how many events the checkpoint has that somebody keeps (default: 0)
`;

const MISTAKE = 64;
const LOCAL = new Set(['127.0.0.1', 'localhost', '::1', '[::1]']);

const OPTIONS = {
  list: { type: 'boolean' },
  help: { type: 'boolean' },
  'yes-destroy-this-copy': { type: 'boolean' },
  database: { type: 'string' },
  order: { type: 'string' },
  'kept-size': { type: 'string', default: '0' },
} as const;

/** A mistake in the call. */
class CallError extends Error {}

const readCall = () => {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new CallError((error as Error).message, { cause: error });
  }
};

/** The client knows the host that it would connect to, whatever the address and the environment say. */
const localClient = (url: string): pg.Client => {
  const client = new pg.Client({ connectionString: url });
  if (!LOCAL.has(client.host)) throw new CallError(`${client.host} is not this machine: work on a copy here`);
  return client;
};

const run = async (): Promise<void> => {
  const { values, positionals } = readCall();
  if (values.help) return void process.stdout.write(USAGE);
  if (values.list) return void console.log(alignedColumns(WAYS.map(({ name, does }) => [name, does])));
  const way = WAYS.find(({ name }) => name === positionals[0]);
  if (!way || positionals.length > 1) throw new CallError('name one of the ways that --list shows');
  if (!/^\d{1,15}$/.test(values['kept-size'])) throw new CallError('--kept-size is a whole number');
  const url = values.database ?? process.env.DATABASE_URL;
  if (url === undefined || !URL.canParse(url)) throw new CallError('--database is the address of a database');
  const eventsUrl = new URL(url);
  eventsUrl.pathname = '/eventstore';
  const [services, events] = [localClient(url), localClient(eventsUrl.href)];
  if (!values['yes-destroy-this-copy'])
    throw new CallError('it changes the databases for good: say --yes-destroy-this-copy');
  try {
    await Promise.all([services.connect(), events.connect()]);
    const target = await findTarget(events, { orderId: values.order, keptSize: Number(values['kept-size']) });
    await events.query('begin');
    await way.run({ services, events }, target);
    await events.query('commit');
    console.log(`${way.name}: changed at ${target.order} and ${target.payment}`);
  } finally {
    await Promise.all([services.end(), events.end()]);
  }
};

try {
  await run();
} catch (error) {
  console.error((error as Error).message);
  if (error instanceof CallError) console.error(`\n${USAGE}`);
  process.exitCode = error instanceof CallError ? MISTAKE : 1;
}
