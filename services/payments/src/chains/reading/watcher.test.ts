import { setImmediate } from 'node:timers/promises';
import { AppError } from '@cpg/contracts';
import {
  type ChainProcesses,
  chainProcesses,
  KIND,
  transferOf,
  USDC,
  watchNewChain,
} from '../../testing/jest-chain-process.ts';
import { simulatedChain } from '../../testing/jest-simulated-chain.ts';
import { ChainNodeError, type ChainSource, WrongChainError } from '../chain-source.ts';

const money = transferOf('a');

test('reports a transfer when it is mined, and confirms it when it is deep enough', async () => {
  const { chain, watching } = await watchNewChain();
  const block = chain.mine(money);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({
    status: 'received',
    amountMinor: 1_000_000n,
    address: money.address,
    providerId: 'eip155:31337/a:0',
    txHash: 'a',
    confirmations: 1,
    block,
    seenAt: chain.now().toISOString(),
  });
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'applied', confirmations: 2 });
});

test('dust at one address holds up no money at others, nor larger money there', async () => {
  const asked: bigint[] = [];
  const { chain, watching } = await watchNewChain({ required: (amountMinor) => (asked.push(amountMinor), 2) });
  const address = 'address-with-dust';
  const dust = Array.from({ length: 200 }, (_, n) => transferOf(`dust-${n}`, { address, units: 1n }));
  const large = transferOf('large', { address });
  chain.mine(...dust, large, money);
  await watching.readOn();
  expect([watching.paymentOf(large)?.status, watching.paymentOf(money)?.status]).toEqual(['received', 'received']);
  expect(watching.payments().length).toBeLessThan(dust.length);
  // The sum at each address, and not one answer for each transfer.
  expect(asked.length).toBeLessThan(10);
  chain.mine();
  for (let round = 0; round < 20; round += 1) await watching.readOn();
  const statuses = [...dust, large, money].map((each) => watching.paymentOf(each)?.status);
  expect(new Set(statuses)).toEqual(new Set(['applied']));
});

test('a retired token counts only for orders that show it', async () => {
  const retired = { ...USDC, id: 'eip155:11155111/erc20:0xold', isRetired: true as const };
  const { chain, watching } = await watchNewChain({ assets: [USDC, retired] });
  const late = transferOf('b', { asset: retired.id });
  chain.mine(late);
  await watching.readOn();
  expect(watching.paymentOf(late)).toMatchObject({ asset: retired.id, credited: false });
});

test.each(['credit', 'orphan'] as const)(
  'names a token that is not offered, and says whether it counts: %s',
  async (ifSent) => {
    const bridged = { ...USDC, id: 'eip155:11155111/erc20:0xbridged', label: 'USDC.e', ifSent };
    const { chain, watching } = await watchNewChain({ assets: [USDC, bridged] });
    const wrong = transferOf('b', { asset: bridged.id });
    chain.mine(money, wrong);
    await watching.readOn();
    expect(watching.paymentOf(wrong)).toMatchObject({ currency: 'USDC', asset: bridged.id, assetLabel: 'USDC.e' });
    expect(watching.paymentOf(wrong)?.credited).toBe(ifSent === 'orphan' ? false : undefined);
    expect(watching.paymentOf(money)).toMatchObject({ currency: 'USDC', asset: USDC.id });
    expect(watching.paymentOf(money)).not.toHaveProperty('assetLabel');
    expect(watching.paymentOf(money)).not.toHaveProperty('credited');
  },
);

test('sees money by the time of its block, also when it catches up', async () => {
  const { chain, watching } = await watchNewChain();
  chain.mine(money);
  const seenAt = chain.now().toISOString();
  chain.mineMany(300);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'applied', seenAt });
});

test('shows money in the mempool, and applies it only with blocks', async () => {
  const { chain, watching } = await watchNewChain();
  chain.setPool([money]);
  const seenAt = watching.now().toISOString();
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'received', confirmations: 0, seenAt });
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'applied', confirmations: 2, seenAt });
});

test('fails money that left the mempool for a day, and takes it when it is mined after all', async () => {
  const { chain, watching } = await watchNewChain();
  chain.setPool([money]);
  await watching.readOn();
  chain.setPool([]);
  await watching.readOn();
  watching.passHours(23);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('received');
  watching.passHours(2);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'failed', failureReason: 'dropped' });
  chain.setPool([money]);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('failed');
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
});

test('counts from zero again when a reorganization removes money before it is applied', async () => {
  const { chain, watching } = await watchNewChain({ required: 3 });
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  chain.drop(2);
  chain.mineMany(3);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'received', confirmations: 0 });
  expect(watching.paymentOf(money)?.block).toBeUndefined();
  const block = chain.mine(money);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'received', confirmations: 1, block });
  chain.mineMany(2);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'applied', confirmations: 3 });
  expect(watching.payments()).toHaveLength(1);
});

const applied = async () => {
  const { chain, watching } = await watchNewChain();
  chain.mine(money);
  chain.mineMany(2);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
  return { chain, watching };
};

test('counts the watched addresses after a start without a new block', async () => {
  const { watching } = await applied();
  const { watched } = watching.progress();
  watching.restart();
  expect(watching.progress().watched).toBeNull();
  await watching.readOn();
  expect(watching.progress()).toMatchObject({ state: 'at_tip', watched });
});

test('says that it waits for a read model, and goes on where it was', async () => {
  const { chain, watching } = await watchNewChain();
  watching.setBehind(true);
  chain.mine(money);
  for (const _ of [1, 2]) await expect(watching.readOn()).rejects.toMatchObject({ code: 'dependency_unavailable' });
  expect(watching.tables.waiting()).toBe('the read models are not complete');
  // A process that begins later knows nothing of the one that noted it.
  watching.restart();
  watching.setBehind(false);
  await watching.readOn();
  expect(watching.tables.waiting()).toBeNull();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'received' });
});

test('keeps applied money that is mined again within the grace', async () => {
  const { chain, watching } = await applied();
  chain.drop(3);
  chain.mineMany(3 + KIND.graceBlocks - 1);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
  const block = chain.mine(money);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'applied', block });
  expect(watching.events.map(({ type }) => type)).not.toContain('PaymentFailed');
});

test('fails applied money after the grace, and applies it when it returns', async () => {
  const { chain, watching } = await applied();
  chain.drop(3);
  chain.mineMany(3 + KIND.graceBlocks);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'failed', failureReason: 'reorg' });
  chain.mine(money);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('received');
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
});

test('fails money that the payer replaces with the reason replaced, and takes the replacement', async () => {
  const { chain, watching } = await watchNewChain();
  const spends = ['coin:0'];
  const original = transferOf('original', { spends });
  const bumped = transferOf('bumped', { spends, address: original.address });
  chain.setPool([original]);
  await watching.readOn();
  chain.setPool([]);
  chain.mine(bumped);
  await watching.readOn();
  watching.restart();
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(original)).toMatchObject({ status: 'failed', failureReason: 'replaced' });
  expect(watching.paymentOf(bumped)?.status).toBe('applied');
});

test('a replacement that leaves the chain again replaces nothing', async () => {
  const { chain, watching } = await watchNewChain();
  const spends = ['coin:0'];
  const original = transferOf('original', { spends });
  chain.setPool([original]);
  await watching.readOn();
  chain.mine(transferOf('bumped', { spends, address: original.address }));
  await watching.readOn();
  chain.drop(1);
  chain.mine(transferOf('thief', { spends, address: 'elsewhere' }));
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(original)).toMatchObject({ status: 'failed', failureReason: 'double_spend' });
});

test('fails money whose output another transaction spends, once that is as deep as the money had to be', async () => {
  const { chain, watching } = await watchNewChain();
  const spends = ['coin:0'];
  const original = transferOf('original', { spends });
  chain.setPool([original]);
  await watching.readOn();
  chain.setPool([]);
  chain.mine(transferOf('replacement', { spends }));
  await watching.readOn();
  expect(watching.paymentOf(original)?.status).toBe('received');
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(original)).toMatchObject({ status: 'failed', failureReason: 'double_spend' });
  expect(watching.paymentOf(transferOf('replacement'))?.status).toBe('applied');
});

test('waits for a node that is behind, and changes nothing', async () => {
  const { chain, watching } = await applied();
  chain.setMissing(4);
  await watching.readOn();
  expect(watching.progress()).toMatchObject({ state: 'behind', reorganizations: 0 });
  chain.setMissing(0);
  chain.mine();
  await watching.readOn();
  expect(watching.progress()).toMatchObject({ state: 'at_tip', height: chain.height(), reorganizations: 0 });
  expect(watching.paymentOf(money)?.status).toBe('applied');
});

test.each([1, KIND.windowBlocks])('follows a reorganization of %i blocks', async (depth) => {
  const { chain, watching } = await applied();
  chain.mineMany(KIND.windowBlocks);
  await watching.readOn();
  chain.drop(depth);
  chain.mineMany(depth + 1);
  await watching.readOn();
  expect(watching.progress()).toMatchObject({ state: 'at_tip', height: chain.height(), reorganizations: 1 });
});

/** Reads until the answers of the nodes halt reading. */
const readUntilHalted = async (watching: ChainProcesses): Promise<void> => {
  for (let answer = 1; answer < 3; answer += 1) {
    await expect(watching.readOn()).rejects.toMatchObject({ name: 'Error' });
    expect(watching.tables.mark().halted).toBeNull();
  }
  await expect(watching.readOn()).rejects.toMatchObject({ name: 'ChainHaltedError' });
};

test('halts at a reorganization that is deeper than the window, until an operator asks for a rescan', async () => {
  const { chain, watching } = await applied();
  chain.mineMany(KIND.windowBlocks - 3);
  await watching.readOn();
  chain.drop(KIND.windowBlocks + 1);
  chain.mineMany(KIND.windowBlocks + 5);
  const before = watching.tables.window();
  await readUntilHalted(watching);
  watching.restart();
  await expect(watching.readOn()).rejects.toThrow(/none of the last 11 blocks/);
  expect(watching.tables.window()).toEqual(before);
  expect(watching.tables.mark().halted).toMatch(/none of the last/);
  expect(watching.paymentOf(money)?.status).toBe('applied');
  watching.tables.requestRescan(1);
  await watching.readOn();
  expect(watching.tables.window().at(-1)).toMatchObject(chain.refAt(chain.height()));
  chain.mineMany(KIND.graceBlocks);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'failed', failureReason: 'reorg' });
});

test('halts on a node that was wiped and shows another chain', async () => {
  const { chain, watching } = await applied();
  chain.wipe();
  chain.mineMany(30);
  await readUntilHalted(watching);
  watching.restart();
  await expect(watching.readOn()).rejects.toThrow(/block 0 of the nodes is main-0-/);
  expect(watching.paymentOf(money)?.status).toBe('applied');
});

test('halts on a node of another chain that is behind', async () => {
  const { chain, watching } = await applied();
  chain.mineMany(2 * KIND.windowBlocks);
  await watching.readOn();
  chain.wipe();
  await watching.readOn();
  expect(watching.progress().state).toBe('behind');
  await expect(watching.readOn()).rejects.toThrow(/block 0 of the nodes is main-0-/);
});

test('goes on after the last checkpoint when its tables are lost', async () => {
  const { chain, watching } = await applied();
  chain.mineMany(3 * KIND.windowBlocks);
  await watching.readOn();
  expect(watching.recorded.places).toHaveLength(2);
  watching.tables.lose();
  watching.restart();
  const later = transferOf('later');
  chain.mine(later);
  chain.mine();
  await watching.readOn();
  expect(watching.tables.window()[0]!.height).toBeGreaterThan(KIND.windowBlocks);
  expect(watching.paymentOf(later)?.status).toBe('applied');
  expect(watching.payments()).toHaveLength(2);
});

test('records no checkpoint above a transfer that could not be reported', async () => {
  const { chain, watching } = await watchNewChain();
  watching.setOrdersFailure(() => new AppError('internal_error', 'orders answered 500'));
  chain.mine(money);
  chain.mineMany(3 * KIND.windowBlocks);
  await watching.readOn();
  expect(watching.progress()).toMatchObject({ state: 'at_tip', failingReports: 1 });
  // New orders may use the network: their deposits are seen.
  expect(watching.tables.mark().readAt).toEqual(watching.now());
  expect(watching.recorded.places).toHaveLength(1);
  watching.setOrdersFailure(() => null);
  watching.passHours(1);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
  expect(watching.recorded.places).toHaveLength(2);
});

const SECOND = 1_000;

test.each([
  ['an internal error', new AppError('internal_error', 'orders answered 500')],
  ['a refused token', new AppError('insufficient_scope', 'orders answered 403')],
  ['a conflict that orders answered', new AppError('payment_conflict', 'the order differs', { answeredBy: 'orders' })],
  ['an answer that cannot be read', new SyntaxError('Unexpected token < in JSON')],
])('makes a report again after %s', async (_, failure) => {
  const { chain, watching } = await watchNewChain();
  watching.setOrdersFailure(() => failure);
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  expect(watching.tables.transfers()).toMatchObject([
    { reported: null, pending: { status: 'received' }, failure: { attempts: 1, firstAt: watching.now() } },
  ]);
  watching.setOrdersFailure(() => null);
  watching.restart();
  await watching.readOn();
  expect(watching.paymentOf(money)).toBeUndefined();
  watching.passMs(5 * SECOND);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
  expect(watching.tables.transfers()).toMatchObject([{ pending: null, failure: null }]);
  expect(watching.progress().failingReports).toBe(0);
  expect(watching.refused()).toBe(0);
});

test('makes a report again in time after the clock was set back', async () => {
  const { chain, watching } = await watchNewChain();
  watching.setOrdersFailure(() => new AppError('internal_error', 'orders answered 500'));
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  watching.setOrdersFailure(() => null);
  watching.passHours(-1);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
});

test.each(['internal_error', 'outcome_unknown'] as const)(
  'a report that keeps failing by %s holds up no other one, and is tried less and less often',
  async (code) => {
    const { chain, watching } = await watchNewChain();
    const failing = transferOf('failing');
    let attempts = 0;
    watching.setOrdersFailure(({ address }) => {
      if (address !== failing.address) return null;
      attempts += 1;
      return new AppError(code, 'the report failed');
    });
    chain.mine(failing, money);
    chain.mine();
    await watching.readOn();
    expect(watching.paymentOf(money)?.status).toBe('applied');
    expect(watching.progress().readAt).toEqual(watching.now());
    expect(watching.tables.mark().readAt).toEqual(watching.now());
    const waits = [];
    for (let second = 1; second <= 1_000; second += 1) {
      const before = attempts;
      watching.passMs(SECOND);
      await watching.readOn();
      if (attempts > before) waits.push(second);
    }
    expect(waits).toEqual([5, 15, 35, 75, 155, 315, 615, 915]);
    expect(watching.progress().failingReports).toBe(1);
  },
);

test('an outage is tried every half minute at least', async () => {
  const { chain, watching } = await watchNewChain();
  watching.setOrdersFailure(() => new AppError('dependency_unavailable', 'orders is temporarily unavailable'));
  chain.mine(money);
  await watching.readOn();
  for (let second = 0; second < 600; second += 1) {
    watching.passMs(SECOND);
    await watching.readOn();
  }
  watching.setOrdersFailure(() => null);
  watching.passMs(30 * SECOND);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('received');
});

test('money whose asset is unknown does not stop the reports of other money', async () => {
  const { chain, watching } = await watchNewChain();
  chain.mine(transferOf('unknown', { asset: 'eip155:31337/erc20:0x01' }), money);
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
  expect(watching.tables.transfers().map(({ failure }) => failure?.reason ?? null)).toEqual([
    'Error: the file of assets lacks eip155:31337/erc20:0x01: add it again',
    null,
  ]);
});

test('refuses for good what payments can never record, and counts it', async () => {
  const { chain, watching } = await watchNewChain();
  watching.setOrdersFailure(() => new AppError('payment_conflict', 'this payment was reported with another amount'));
  chain.mine(money);
  await watching.readOn();
  chain.mine();
  watching.passHours(1);
  await watching.readOn();
  const reason = 'payment_conflict: this payment was reported with another amount';
  expect(watching.tables.transfers()).toMatchObject([
    { reported: { status: 'refused' }, pending: null, failure: { attempts: 1, retryAt: null, reason } },
  ]);
  expect(watching.refused()).toBe(1);
  expect(watching.progress().failingReports).toBe(0);
});

test('a process whose nodes fail shows how far the process before it read', async () => {
  const { chain, watching } = await watchNewChain();
  const { readAt } = watching.progress();
  chain.setFailure(new ChainNodeError('unreachable', 'no node answers'));
  watching.passHours(1);
  watching.restart();
  await expect(watching.readOn()).rejects.toThrow('no node answers');
  expect(watching.progress()).toMatchObject({ readAt, height: 3, state: 'starting' });
});

test('ignores a transfer of less than the smallest amount of its currency', async () => {
  const { chain, watching } = await watchNewChain();
  chain.mine(transferOf('dust', { units: 0n }));
  chain.mine();
  await watching.readOn();
  expect(watching.payments()).toEqual([]);
  expect(watching.tables.transfers()).toMatchObject([{ reported: { status: 'ignored' }, pending: null }]);
});

test('of two processes that both believe they lead, one stops at its next write', async () => {
  const { chain, watching } = await watchNewChain();
  chain.mine(money);
  const results = await Promise.allSettled([watching.readOn(), watching.another().readOn()]);
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
  expect(watching.events.filter(({ type }) => type === 'PaymentReceived')).toHaveLength(1);
});

describe('an amount that has to be final', () => {
  const asset = { ...USDC, finalizedFromMinor: 2_000_000n };
  const large = transferOf('large', { units: 2_000_000n });
  const watchFinality = (isFinal: NonNullable<ChainSource['isFinal']>) => {
    const chain = simulatedChain();
    chain.mineMany(3);
    const source = { ...chain.source, isFinal };
    return { chain, watching: chainProcesses({ ...chain, source }, { assets: [asset] }) };
  };

  test('waits for its confirmations, and then until the nodes call its block final', async () => {
    let final = 0;
    const asked: number[] = [];
    const { chain, watching } = watchFinality(async ({ height }) => {
      asked.push(height);
      return height <= final;
    });
    await watching.readOn();
    const block = chain.mine(large);
    await watching.readOn();
    expect(asked).toEqual([]);
    chain.mineMany(20);
    await watching.readOn();
    expect(watching.paymentOf(large)?.status).toBe('received');
    final = block.height;
    await watching.readOn();
    expect(watching.paymentOf(large)?.status).toBe('applied');
    expect(new Set(asked)).toEqual(new Set([block.height]));
  });

  test('counts with all money at its address, and smaller amounts need only depth', async () => {
    const { chain, watching } = watchFinality(async () => false);
    await watching.readOn();
    const part = transferOf('part', { units: 1_000_000n });
    chain.mine(money, part, transferOf('rest', { units: 1_000_000n, address: part.address }));
    chain.mineMany(20);
    await watching.readOn();
    expect(watching.paymentOf(money)?.status).toBe('applied');
    expect(watching.paymentOf(part)?.status).toBe('received');
  });

  test('waits while no node answers, and holds up no other payment', async () => {
    let isDown = true;
    const { chain, watching } = watchFinality(async () => {
      if (isDown) throw new ChainNodeError('refused', 'node 1 has no tag finalized');
      return true;
    });
    await watching.readOn();
    chain.mine(large, money);
    chain.mineMany(20);
    await watching.readOn();
    expect(watching.paymentOf(large)?.status).toBe('received');
    expect(watching.paymentOf(money)?.status).toBe('applied');
    isDown = false;
    await watching.readOn();
    expect(watching.paymentOf(large)?.status).toBe('applied');
  });
});

test('a round ends at the tip that it began with, however fast the chain adds blocks', async () => {
  const chain = simulatedChain();
  chain.mineMany(3);
  const block: ChainSource['block'] = (ref, addresses) => {
    if (chain.height() < 300) chain.mineMany(2); // the end, for a reader that never stops
    return chain.source.block(ref, addresses);
  };
  const watching = chainProcesses({ ...chain, source: { ...chain.source, block } });
  await watching.readOn();
  chain.mine(money);
  for (let round = 0; round < 3; round += 1) {
    const tip = chain.height();
    const startedAt = watching.now();
    await watching.readOn();
    expect(watching.progress()).toMatchObject({ state: 'at_tip', height: tip, readAt: startedAt });
    expect(chain.height()).toBeGreaterThan(tip);
  }
  expect(watching.paymentOf(money)).toMatchObject({ status: 'applied' });
});

test('a process that resumes after another one took over fails no payment any more', async () => {
  const { chain, watching } = await applied();
  let isLeader = true;
  let resume = () => {};
  watching.delayFailures(new Promise((resolve) => (resume = resolve)));
  chain.drop(3);
  chain.mineMany(3 + KIND.graceBlocks);
  const frozen = watching.another(() => isLeader).readOn();
  for (let tick = 0; tick < 1_000; tick += 1) await setImmediate();
  expect(watching.tables.transfers()).toMatchObject([{ pending: { status: 'failed' } }]);

  isLeader = false;
  const block = chain.mine(money);
  await watching.another().readOn();
  resume();
  await frozen;
  expect(watching.paymentOf(money)).toMatchObject({ status: 'applied', block });
  expect(watching.events.map(({ type }) => type)).not.toContain('PaymentFailed');
  expect(watching.tables.transfers()).toMatchObject([{ reported: { status: 'confirmed' }, pending: null }]);
});

test('one answer of a wrong node behind a load balancer halts nothing', async () => {
  const { chain, watching } = await applied();
  for (let time = 0; time < 5; time += 1) {
    chain.setFailure(new WrongChainError('node 1 serves another chain'));
    await expect(watching.readOn()).rejects.toThrow('node 1 serves another chain');
    await expect(watching.readOn()).rejects.toThrow('node 1 serves another chain');
    chain.setFailure(null);
    chain.mine();
    await watching.readOn();
    expect(watching.progress()).toMatchObject({ state: 'at_tip', height: chain.height() });
  }
  expect(watching.tables.mark().halted).toBeNull();
});

test('waits before it halts until all nodes had the time to know the same', async () => {
  const { chain, watching } = await watchNewChain({ kind: { ...KIND, settleMs: 3_600_000 } });
  chain.setFailure(new WrongChainError('node 1 serves another chain'));
  for (let time = 0; time < 5; time += 1) await expect(watching.readOn()).rejects.toMatchObject({ name: 'Error' });
  watching.passHours(1);
  await expect(watching.readOn()).rejects.toMatchObject({ name: 'ChainHaltedError', reason: 'other_chain' });
});

test('no other failure of nodes halts reading, however often it is met', async () => {
  const { chain, watching } = await watchNewChain();
  chain.mine(money);
  chain.mine();
  for (const fault of ['busy', 'refused', 'too_large', 'mismatch', 'disagreement', 'malformed', 'timeout'] as const) {
    chain.setFailure(new ChainNodeError(fault, `node 1 is ${fault}`));
    for (let time = 0; time < 10; time += 1) await expect(watching.readOn()).rejects.toThrow(`node 1 is ${fault}`);
  }
  expect(watching.tables.mark().halted).toBeNull();
  chain.setFailure(null);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
});

test('goes on by itself after a halt once the node is repaired, and no money is lost', async () => {
  const { chain, watching } = await watchNewChain();
  chain.mine(money);
  chain.setFailure(new WrongChainError('node 1 serves another chain'));
  await readUntilHalted(watching);
  expect(watching.tables.mark().halted).toBe('node 1 serves another chain');
  watching.restart();
  await expect(watching.readOn()).rejects.toMatchObject({ name: 'ChainHaltedError' });
  chain.mine();
  chain.setFailure(null);
  await watching.readOn();
  expect(watching.tables.mark().halted).toBeNull();
  expect(watching.progress().state).toBe('at_tip');
  expect(watching.paymentOf(money)?.status).toBe('applied');
});

test('says that the chain stalled while its nodes are frozen, and lets no order expire', async () => {
  const { chain, watching } = await watchNewChain();
  const { readAt } = watching.tables.mark();
  chain.mine(money);
  chain.setShown({ stalled: 'every node is frozen' });
  watching.passHours(1);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('received');
  expect(watching.tables.mark()).toMatchObject({ stalled: 'every node is frozen', readAt });
  expect(watching.progress()).toMatchObject({ state: 'at_tip', stalled: 'every node is frozen', readAt });
  watching.restart();
  // Too early to say: the nodes do not agree yet.
  chain.setShown({ stalled: undefined, isNewest: false });
  await watching.readOn();
  expect(watching.tables.mark()).toMatchObject({ stalled: 'every node is frozen', readAt });
  chain.setShown({});
  await watching.readOn();
  expect(watching.tables.mark()).toMatchObject({ stalled: null, readAt: watching.now() });
});

test('shows at once that the chain is current again, also before it has caught up', async () => {
  const { chain, watching } = await watchNewChain();
  chain.setShown({ stalled: 'every node is frozen' });
  await watching.readOn();
  chain.mineMany(30);
  chain.setShown({});
  watching.setOrdersFailure(() => new Error('orders is down'));
  const stop = new AbortController();
  stop.abort();
  await watching.another().readOn(stop.signal);
  expect(watching.tables.mark()).toMatchObject({ stalled: null });
});

test('a frozen tip drops no money that its mempool does not show', async () => {
  const { chain, watching } = await watchNewChain();
  chain.setPool([money]);
  await watching.readOn();
  chain.setPool([]);
  chain.setShown({ stalled: 'every node is frozen' });
  await watching.readOn();
  watching.passHours(48);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('received');
  chain.setShown({});
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('failed');
});
