import { parseArgs } from 'node:util';
import { PAYER } from '@cpg/local-chain';
import { LOCAL_NETWORK } from '../harness/chains.ts';
import { PayError } from './pay-error.ts';

export interface PayOptions {
  /** The id of an order, the link of its payment page, or another text by which a search finds it. */
  readonly order: string;
  /** In the token. Default: what remains to be paid. */
  readonly amount: string | undefined;
  /** Currency of the asset to send. Default: that of the order. */
  readonly token: string | undefined;
  readonly times: number;
  /** Reorganizes the chain afterwards: the payment is mined again in another block, or it is gone. */
  readonly reorg: 'again' | 'lost' | null;
}

export interface RefundOptions {
  readonly refundId: string;
  /** The address of the payer. */
  readonly to: string | undefined;
}

export const PAY_HELP = `npm run pay -- ORDER [options]      pay an order of the running stack on the chain of this machine
npm run pay -- REFUND [--to A]      send a refund that was requested with "settle": "on_chain"

ORDER is the id of an order, your own reference of it, or the link of its payment page; REFUND is rfd_…

Options for an order
  --amount A     amount to pay (default: what remains)
  --token T      what to send: ETH, USDT, USDC, USDG or CAZ (default: the currency of the order); another
                 one arrives at the address of the order too, and becomes an orphan
  --times N      pay so often, in transactions of their own (default 1)
  --reorg        reorganize the chain afterwards: another block contains the payment
  --lost         with --reorg: no block contains the payment any more, so the order is reversed

Options for a refund
  --to A         the address of the payer, unless the refund has its destination already

  --help         show this page

Both are sent from ${PAYER}, the wallet of this chain. To let it prove refunds, declare it
once for a merchant, before you request a refund:

  npm run admin -- refund-addresses add MERCHANT --network ${LOCAL_NETWORK} --address ${PAYER}
`;

const OPTIONS = {
  amount: { type: 'string' },
  token: { type: 'string' },
  times: { type: 'string' },
  to: { type: 'string' },
  reorg: { type: 'boolean' },
  lost: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Null asks for help. Throws PayError for an invalid command line. */
export const parsePayOptions = (args: readonly string[]): PayOptions | RefundOptions | null => {
  const { values, positionals } = parsed(args);
  if (values.help) return null;
  const [target, ...others] = positionals;
  if (target === undefined || others.length > 0)
    throw new PayError('name one order or refund: npm run pay -- ord_…   (--help shows the options)');
  if (target.startsWith('rfd_')) return refundOptions(target, values);
  if (values.to !== undefined) throw new PayError('--to is for refunds: the address of an order is fixed');
  const times = Number(values.times ?? 1);
  if (!Number.isInteger(times) || times < 1 || times > 100)
    throw new PayError('--times must be a number from 1 to 100');
  if (values.amount !== undefined && !/^\d{1,26}(\.\d{1,18})?$/.test(values.amount))
    throw new PayError(`--amount must be a decimal number such as 5.45, but is "${values.amount}"`);
  if (values.lost && !values.reorg) throw new PayError('--lost needs --reorg');
  const reorg = values.reorg ? (values.lost ? 'lost' : 'again') : null;
  return { order: target, amount: values.amount, token: values.token?.toUpperCase(), times, reorg };
};

const refundOptions = (refundId: string, { to, ...others }: Readonly<Record<string, unknown>>): RefundOptions => {
  const [other] = Object.keys(others);
  if (other !== undefined) throw new PayError(`--${other} is for orders: a refund is sent as it was requested`);
  return { refundId, to: to as string | undefined };
};

const parsed = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (cause) {
    const fault = (cause as Error).message.split(/\. (?=To specify)/)[0];
    throw new PayError(`${fault}   (--help shows the options)`, { cause });
  }
};
