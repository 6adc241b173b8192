import { KIND, transferOf, watchNewChain } from '../../testing/jest-chain-process.ts';

const money = transferOf('a');

const heldMoney = async () => {
  const started = await watchNewChain();
  started.watching.setHeld(true);
  started.chain.mine(money);
  started.chain.mine();
  await started.watching.readOn();
  expect(started.watching.paymentOf(money)).toMatchObject({ status: 'received', confirmedAt: expect.any(String) });
  return started;
};

test('takes back the confirmation of money that its order holds when its block leaves the chain', async () => {
  const { chain, watching } = await heldMoney();
  chain.drop(2);
  chain.mineMany(3);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'received', confirmations: 0, confirmedAt: undefined });
  chain.mineMany(2 * KIND.graceBlocks);
  watching.restart();
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('received');
  const block = chain.mine(money);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'received', block, confirmedAt: undefined });
  watching.setHeld(false);
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'applied', block });
});

test('takes back the confirmation of held money that is mined again with fewer confirmations', async () => {
  const { chain, watching } = await heldMoney();
  chain.drop(2);
  chain.mineMany(2);
  const block = chain.mine(money);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'received', block, confirmedAt: undefined });
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'received', block, confirmedAt: expect.any(String) });
});

test('an orphan that is mined again needs its confirmations again, because its order may still apply it', async () => {
  const { chain, watching } = await watchNewChain();
  watching.setPaid(true);
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  const confirmed = { status: 'orphan', confirmedAt: expect.any(String) };
  expect(watching.paymentOf(money)).toMatchObject(confirmed);
  chain.drop(2);
  chain.mineMany(2);
  const block = chain.mine(money);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'orphan', block, confirmedAt: undefined });
  watching.restart();
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ ...confirmed, block });
});

test('an orphan whose transaction does not come back fails', async () => {
  const { chain, watching } = await watchNewChain();
  watching.setPaid(true);
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  chain.drop(2);
  chain.mineMany(KIND.graceBlocks + 2);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'failed', failureReason: 'reorg' });
});

test('money of a failed payment that was deleted with its order is a payment of its own, and can fail too', async () => {
  const { chain, watching } = await watchNewChain();
  const again = { id: `${money.id}#after-deletion` };
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  chain.drop(2);
  chain.mineMany(KIND.graceBlocks + 2);
  await watching.readOn();
  watching.removePayment(money);
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(again)).toMatchObject({ status: 'applied', amountMinor: 1_000_000n, txHash: money.txHash });
  expect(watching.payments()).toHaveLength(1);
  chain.drop(2);
  chain.mineMany(KIND.graceBlocks + 2);
  await watching.readOn();
  expect(watching.paymentOf(again)).toMatchObject({ status: 'failed', failureReason: 'reorg' });
});

test('many small transfers to an address need as many confirmations as one large one', async () => {
  const { chain, watching } = await watchNewChain({ required: (amountMinor) => (amountMinor >= 3_000_000n ? 4 : 1) });
  const parts = ['p', 'q', 'r'].map((id) => transferOf(id, { address: 'address-of-all' }));
  chain.mine(...parts.slice(0, 2));
  await watching.readOn();
  expect(parts.map((part) => watching.paymentOf(part)?.status)).toEqual(['applied', 'applied', undefined]);
  chain.mine(parts[2]!);
  chain.mineMany(2);
  await watching.readOn();
  expect(watching.paymentOf(parts[2]!)?.status).toBe('received');
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(parts[2]!)).toMatchObject({ status: 'applied', confirmations: 4 });
});

test('a transfer that waits needs more confirmations once its address received more', async () => {
  const { chain, watching } = await watchNewChain({ required: (amountMinor) => (amountMinor >= 2_000_000n ? 4 : 2) });
  const [first, second] = ['p', 'q'].map((id) => transferOf(id, { address: 'address-of-all' }));
  chain.mine(first!);
  await watching.readOn();
  chain.mine(second!);
  await watching.readOn();
  expect(watching.paymentOf(first!)?.status).toBe('received');
  chain.mineMany(2);
  await watching.readOn();
  expect([first!, second!].map((part) => watching.paymentOf(part)?.status)).toEqual(['applied', 'received']);
});
