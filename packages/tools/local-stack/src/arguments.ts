import { parseArgs } from 'node:util';
import { LaunchError } from './config.ts';
import { SCALABLE, type Scale } from './ports.ts';

export interface Arguments {
  readonly help: boolean;
  /** Number of instances of each service. */
  readonly scale: Scale;
}

const MAX_INSTANCES = 16;
const KNOWN_OPTIONS = ['--scale SERVICE=N,...', '--dispatchers N', '--help'];

export const HELP = `npm start -- [options]      run the whole gateway on this machine until Ctrl-C

Options
  --scale SERVICE=N,...     number of instances, 1 to ${MAX_INSTANCES} each (default 1), for example
                            gateway=2,orders=2,payments=2,webhook-dispatcher=2
  --dispatchers N           the same as --scale webhook-dispatcher=N
  --help                    show this page

Environment
  DATA_DIR                  data folder (default .data/ in the checkout)
  SANDBOX_API_KEY           API key of the demo merchant: ak_sandbox_ and 32 to 128 letters and digits
                            (default: generated at the first start)
  HOST                      IP address that the services listen on (default 127.0.0.1)
  GATEWAY_PORT (4000)  ORDERS_PORT (4001)  PAYMENTS_PORT (4002)  WEBHOOK_DISPATCHER_PORT (4003, 4004, ...)
  EVENTSTORE_PORT (2113)  KAFKA_PORT (9092)  POSTGRES_PORT (5433)  CHAIN_PORT (8545)
                            with several instances of gateway, orders or payments, a proxy listens on the port of
                            the service, and instance N on that port plus 100 times N
  PORT_OFFSET=N             add N to every port above; refused where browsers block the port of the gateway or the chain
  EVENTSTORE_URL, KAFKA_BROKERS, DATABASE_URL
                            use this server instead of the embedded one
  CHAIN=off                 run no local EVM chain; orders then get addresses of public test chains
  DEMO_ORDER=off            create no order at the start and print no payment link
  BITCOIND_URL=URL          Bitcoin node on regtest, with user name and password: orders in BTC can be paid there
  All other variables, such as LOG_LEVEL, are passed on to the services. .env.example describes them.
`;

/** Parses the command line. Throws LaunchError with the known options when an argument is unknown. */
export const parseArguments = (args: readonly string[]): Arguments => {
  const { help = false, scale = '', dispatchers } = parseOptions(args);
  const entries = scale === '' ? [] : scale.split(',').map(parseEntry);
  if (dispatchers !== undefined) entries.push(['webhook-dispatcher', countIn('--dispatchers', dispatchers)]);
  const repeated = entries.find(([name], index) => entries.findIndex(([other]) => other === name) !== index);
  if (repeated) throw new LaunchError(`the number of instances of ${repeated[0]} is given twice`);
  return { help, scale: Object.fromEntries(entries) };
};

const parseEntry = (entry: string): [keyof Scale, number] => {
  const [name, count = ''] = entry.split('=');
  const service = SCALABLE.find((known) => known === name?.trim());
  if (!service)
    throw new LaunchError(`--scale has entries such as orders=2, for ${SCALABLE.join(', ')}, but "${entry}" is none`);
  return [service, countIn(`--scale ${service}`, count)];
};

const countIn = (option: string, text: string): number => {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MAX_INSTANCES) return count;
  throw new LaunchError(`${option} must be a number from 1 to ${MAX_INSTANCES}, but is "${text}"`);
};

const parseOptions = (args: readonly string[]) => {
  const options = { help: { type: 'boolean' }, scale: { type: 'string' }, dispatchers: { type: 'string' } } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (cause) {
    const reason = (cause as Error).message.split(/\. (?=To specify)/)[0];
    throw new LaunchError(`${reason}. Known options: ${KNOWN_OPTIONS.join(', ')}`, { cause });
  }
};
