import { fromMinor } from '@cpg/contracts';
import type { Deposit, Desk } from './desk.ts';

interface Block {
  readonly height: number;
  readonly hash: string;
}

/** A chain of any kind on which the orders of a desk are paid. */
export interface DepositChain {
  readonly desk: Desk;
  readonly order: () => ReturnType<Desk['order']>;
  /** Sends units to the address of a deposit. There is a block if one contains the transaction at once. */
  readonly pay: (deposit: Deposit, units: bigint) => Promise<{ readonly txHash: string; readonly block?: Block }>;
  /** Gives all that was paid the confirmations that it needs. Resolves to the hash of the first new block. */
  readonly confirm: () => Promise<string>;
  /** Block times are whole seconds: the next block is later than everything before. */
  readonly passASecond: () => Promise<unknown>;
}

/** Tests of deposits that every kind of chain passes. */
export const testDeposits = (chain: () => DepositChain): void => {
  const newOrder = async () => {
    const { order, deposit } = await chain().order();
    const dueUnits = BigInt(deposit.amount_units);
    const decimals = deposit.amount.split('.')[1]!.length;
    return { id: order.id, deposit, dueUnits, shown: (units: bigint) => fromMinor(units, decimals) };
  };
  const payConfirmed = async (deposit: Deposit, units: bigint) => {
    await chain().pay(deposit, units);
    await chain().confirm();
  };

  test('a payment is received when it is seen, and applied once it is confirmed', async () => {
    const { desk, pay, confirm } = chain();
    const { id, deposit, dueUnits, shown } = await newOrder();
    const { txHash: tx_hash, block } = await pay(deposit, dueUnits);
    await desk.sees(id, {
      status: 'awaiting_payment',
      payments: [{ status: 'received', tx_hash, ...(block && { block }) }],
    });
    const minedHash = await confirm();
    const { order, events } = await desk.hears(id, {
      status: 'paid',
      payments: [{ status: 'applied', paid_amount: shown(dueUnits), tx_hash }],
    });
    expect(order.payments[0]!.block).toMatchObject(block ?? { hash: minedHash });
    expect(events).toEqual(expect.arrayContaining(['order:created', 'payment:applied', 'order:paid']));
  });

  test('an underpayment leaves the order partially paid, and a second part pays it', async () => {
    const { desk } = chain();
    const { id, deposit, dueUnits, shown } = await newOrder();
    const [first, second] = [(dueUnits * 2n) / 5n, dueUnits - (dueUnits * 2n) / 5n];
    await payConfirmed(deposit, first);
    await desk.hears(id, { status: 'partially_paid', payments: [{ status: 'applied', paid_amount: shown(first) }] });
    await payConfirmed(deposit, second);
    await desk.hears(id, {
      status: 'paid',
      payments: [
        { status: 'applied', paid_amount: shown(first) },
        { status: 'applied', paid_amount: shown(second) },
      ],
    });
  });

  test('an overpayment pays the order, and the surplus is not applied', async () => {
    const { id, deposit, dueUnits, shown } = await newOrder();
    const surplus = dueUnits / 5n;
    await payConfirmed(deposit, dueUnits + surplus);
    const payment = { status: 'applied', applied_amount: shown(dueUnits), unapplied_amount: shown(surplus) } as const;
    await chain().desk.hears(id, { status: 'paid', payments: [payment] });
  });

  test('an address that is paid again has an orphan', async () => {
    const { desk } = chain();
    const { id, deposit, dueUnits } = await newOrder();
    await payConfirmed(deposit, dueUnits);
    await desk.sees(id, { status: 'paid', payments: [{ status: 'applied' }] });
    await payConfirmed(deposit, dueUnits);
    await desk.hears(id, {
      status: 'paid',
      payments: [{ status: 'applied' }, { status: 'orphan', orphan_reason: 'already_paid' }],
    });
  });

  test('a payment of a canceled order is an orphan', async () => {
    const { desk } = chain();
    const { id, deposit, dueUnits } = await newOrder();
    await desk.shop.api.cancel(id);
    await payConfirmed(deposit, dueUnits);
    await desk.hears(id, { status: 'canceled', payments: [{ status: 'orphan', orphan_reason: 'canceled' }] });
  });

  test('a payment of an expired order is an orphan', async () => {
    const { desk, passASecond } = chain();
    const { id, deposit, dueUnits } = await newOrder();
    await desk.passDeadline(id);
    await passASecond();
    await payConfirmed(deposit, dueUnits);
    await desk.hears(id, { status: 'expired', payments: [{ status: 'orphan', orphan_reason: 'late' }] });
  });
};
