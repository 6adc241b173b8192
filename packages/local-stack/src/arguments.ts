import { parseArgs } from 'node:util';
import { LaunchError } from './launch-error.ts';

export interface Arguments {
  readonly help: boolean;
  /** Number of webhook dispatchers. */
  readonly dispatchers: number;
}

const MAX_DISPATCHERS = 16;
const KNOWN_OPTIONS = ['--dispatchers N', '--help'];

export const HELP = `npm start -- [options]      run the whole gateway on this machine until Ctrl-C

Options
  --dispatchers N           number of webhook dispatchers, 1 to ${MAX_DISPATCHERS} (default 1)
  --help                    show this page

Environment
  DATA_DIR                  data folder (default .data/ in the checkout)
  SANDBOX_API_KEY           API key of the demo merchant: ak_sandbox_ and 32 to 128 letters and digits
                            (default: generated at the first start)
  HOST                      IP address that the services listen on (default 127.0.0.1)
  GATEWAY_PORT (4000)  ORDERS_PORT (4001)  PAYMENTS_PORT (4002)  WEBHOOK_DISPATCHER_PORT (4003, 4004, ...)
  EVENTSTORE_PORT (2113)  KAFKA_PORT (9092)  POSTGRES_PORT (5433)
  PORT_OFFSET=N             add N to every port above
  EVENTSTORE_URL, KAFKA_BROKERS, DATABASE_URL
                            use this server instead of the embedded one
  All other variables, such as LOG_LEVEL, are passed on to the services. .env.example describes them.
`;

/** Parses the command line. Throws LaunchError with the known options when an argument is unknown. */
export const parseArguments = (args: readonly string[]): Arguments => {
  const { help = false, dispatchers = '1' } = parseOptions(args);
  const dispatcherCount = Number(dispatchers);
  if (!/^\d+$/.test(dispatchers) || dispatcherCount < 1 || dispatcherCount > MAX_DISPATCHERS) {
    throw new LaunchError(`--dispatchers must be a number from 1 to ${MAX_DISPATCHERS}, but is "${dispatchers}"`);
  }
  return { help, dispatchers: dispatcherCount };
};

const parseOptions = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options: { help: { type: 'boolean' }, dispatchers: { type: 'string' } } })
      .values;
  } catch (cause) {
    const reason = (cause as Error).message.split(/\. (?=To specify)/)[0];
    throw new LaunchError(`${reason}. Known options: ${KNOWN_OPTIONS.join(', ')}`, { cause });
  }
};
