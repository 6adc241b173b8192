import { decimalsIn, exampleOf, fromMinor, Order, type PageDeposit, Payment, toMinor } from '@cpg/contracts';
import type { UnsettledRefund } from '../state/checkout-queries.ts';
import type { ShownOrder } from '../state/checkout.ts';
import type { Depth } from '../state/payer-payments.ts';

export const ADDRESS = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';
export const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
/** In time: the example order was created at 12:00 and ends at 13:00. */
export const NOW = new Date('2026-01-31T12:10:00.000Z');
export const TOO_LATE = new Date('2026-01-31T13:00:00.001Z');
export const REFERENCE = 'MFRGGZDFMZTWQ2LKNNWG23TPOA';

export const deposit = (more: Partial<PageDeposit> = {}): PageDeposit => ({
  rail: 'gateway_pay',
  network: 'base',
  chain_id: 'eip155:8453',
  asset: `eip155:8453/erc20:${USDC}`,
  address: ADDRESS,
  decimals: 6,
  required_confirmations: 12,
  ...more,
});

/** A payment on the chain of `deposit`. */
export const payment = (more: Partial<Payment> = {}): Payment => {
  const { applied_amount: _, ...rest } = exampleOf(Payment);
  const { status = 'received', paid_amount = '52.472200', unapplied_amount, refunded_amount = '0' } = more;
  const decimals = decimalsIn(paid_amount);
  const left = fromMinor(toMinor(paid_amount, decimals) - toMinor(refunded_amount, decimals), decimals);
  const due_back_amount = status === 'orphan' ? left : unapplied_amount;
  return {
    ...rest,
    provider_id: 'eip155:8453/0xabc/0',
    tx_hash: '0xabc',
    status,
    paid_amount,
    applied_amount: status === 'applied' ? paid_amount : '0.000000',
    ...(due_back_amount !== undefined && Number(due_back_amount) > 0 && { due_back_amount }),
    ...more,
  };
};

export interface Given extends Partial<Order> {
  readonly capabilities?: Order['capabilities'];
  readonly deposits?: readonly PageDeposit[];
  readonly depths?: Record<string, Depth>;
  readonly unsettledRefunds?: readonly UnsettledRefund[];
}

/** The example order of 52.4722 USDC with changes. */
export const shownOrder = ({
  deposits = [deposit()],
  depths = {},
  unsettledRefunds = [],
  ...more
}: Given = {}): ShownOrder => {
  const given: Order = { ...exampleOf(Order), ...more };
  const amount = missingOf(given, deposits);
  const deposit_instructions = given.deposit_instructions.map((instruction) => ({ ...instruction, amount }));
  const order: Order = { ...given, deposit_instructions, ...more };
  return {
    reference: REFERENCE,
    revision: 0,
    order,
    page: { order_id: order.id, merchant_id: order.merchant_id, deposits: [...deposits] },
    settings: { display_name: 'La Fonda', frame_ancestors: [] },
    depths: new Map(Object.entries(depths)),
    unsettledRefunds: [...unsettledRefunds],
  };
};

/** What orders asks for: what remains beside money that is on its way. */
const missingOf = ({ remaining_amount, currency, payments }: Order, deposits: readonly PageDeposit[]): string => {
  const pending = payments.filter(
    ({ status, provider_id, ...payment }) =>
      status === 'received' &&
      payment.currency === currency &&
      payment.credited !== false &&
      deposits.some(({ chain_id }) => provider_id.startsWith(`${chain_id}/`)),
  );
  const decimals = decimalsIn(remaining_amount);
  const sum = pending.reduce((total, { paid_amount }) => total + toMinor(paid_amount, decimals), 0n);
  const missing = toMinor(remaining_amount, decimals) - sum;
  return fromMinor(missing > 0n ? missing : 0n, decimals);
};

export const capabilities = (more: Partial<Order['capabilities']>): Order['capabilities'] => ({
  ...exampleOf(Order).capabilities,
  ...more,
});
