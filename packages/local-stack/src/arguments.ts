import { parseArgs } from 'node:util';
import { LaunchError } from './launch-error.ts';

export interface Arguments {
  readonly help: boolean;
  /** How many webhook dispatchers run. */
  readonly dispatchers: number;
}

const MAX_DISPATCHERS = 16;
const KNOWN = ['--dispatchers N', '--help'];

export const HELP = `npm start -- [options]      runs the whole gateway on this machine, until Ctrl-C

Options
  --dispatchers N           webhook dispatchers to run, 1 to ${MAX_DISPATCHERS} (default 1)
  --help                    this page

Environment
  DATA_DIR                  folder of everything that is kept (default .data/ in the checkout)
  SANDBOX_API_KEY           the demo merchant's key: ak_sandbox_ and 32 to 128 letters and digits (default: made once)
  HOST                      address that the services listen on (default 127.0.0.1)
  GATEWAY_PORT (4000)  ORDERS_PORT (4001)  PAYMENTS_PORT (4002)  WEBHOOK_DISPATCHER_PORT (4003, each further one + 1)
  EVENTSTORE_PORT (2113)  KAFKA_PORT (9092)  POSTGRES_PORT (5433)
  PORT_OFFSET=N             is added to every port above
  EVENTSTORE_URL, KAFKA_BROKERS, DATABASE_URL
                            use these servers in place of an embedded one, each by itself
  LOG_LEVEL, RATE_LIMIT_... and all others reach the services as they are.
`;

/** Reads the command line. Throws LaunchError for anything unknown, with the list of what is known. */
export const readArguments = (args: readonly string[]): Arguments => {
  const { help = false, dispatchers = '1' } = parse(args);
  const count = Number(dispatchers);
  if (!/^\d+$/.test(dispatchers) || count < 1 || count > MAX_DISPATCHERS) {
    throw new LaunchError(`--dispatchers wants a number from 1 to ${MAX_DISPATCHERS}, not "${dispatchers}"`);
  }
  return { help, dispatchers: count };
};

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options: { help: { type: 'boolean' }, dispatchers: { type: 'string' } } })
      .values;
  } catch (cause) {
    const reason = (cause as Error).message.split(/\. (?=To specify)/)[0];
    throw new LaunchError(`${reason}. Known options: ${KNOWN.join(', ')}`, { cause });
  }
};
