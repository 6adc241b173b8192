import { parseArgs } from 'node:util';

export interface PayOptions {
  readonly orderId: string;
  /** In the token. Default: what remains to be paid. */
  readonly amount: string | undefined;
  /** Currency of the asset to send. Default: that of the order. */
  readonly token: string | undefined;
  readonly times: number;
  /** Reorganizes the chain afterwards: the payment is mined again in another block, or it is gone. */
  readonly reorg: 'again' | 'lost' | null;
}

export const PAY_HELP = `npm run pay -- ORDER [options]      pay an order of the running stack on the chain of this machine

Options
  --amount A     amount to pay (default: what remains)
  --token T      what to send: ETH, USDT, USDC, USDG or CAZ (default: the currency of the order); another
                 one arrives at the address of the order too, and becomes an orphan
  --times N      pay so often, in transactions of their own (default 1)
  --reorg        reorganize the chain afterwards: another block contains the payment
  --lost         with --reorg: no block contains the payment any more, so the order is reversed
  --help         show this page
`;

/** The user has to change the command, or something that the message names. */
export class PayError extends Error {
  override readonly name = 'PayError';
}

const OPTIONS = {
  amount: { type: 'string' },
  token: { type: 'string' },
  times: { type: 'string' },
  reorg: { type: 'boolean' },
  lost: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Null asks for help. Throws PayError for an invalid command line. */
export const parsePayOptions = (args: readonly string[]): PayOptions | null => {
  const { values, positionals } = parsed(args);
  if (values.help) return null;
  const [orderId, ...others] = positionals;
  if (orderId === undefined || others.length > 0)
    throw new PayError('name one order: npm run pay -- ord_…   (--help shows the options)');
  const times = Number(values.times ?? 1);
  if (!Number.isInteger(times) || times < 1 || times > 100)
    throw new PayError('--times must be a number from 1 to 100');
  if (values.amount !== undefined && !/^\d{1,26}(\.\d{1,18})?$/.test(values.amount))
    throw new PayError(`--amount must be a decimal number such as 5.45, but is "${values.amount}"`);
  if (values.lost && !values.reorg) throw new PayError('--lost needs --reorg');
  const reorg = values.reorg ? (values.lost ? 'lost' : 'again') : null;
  return { orderId, amount: values.amount, token: values.token?.toUpperCase(), times, reorg };
};

const parsed = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (cause) {
    throw new PayError((cause as Error).message.split(/\. (?=To specify)/)[0], { cause });
  }
};
