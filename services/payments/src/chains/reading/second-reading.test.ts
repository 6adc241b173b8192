import { setImmediate } from 'node:timers/promises';
import { chainProcesses, COIN, KIND, transferOf } from '../../testing/jest-chain-process.ts';
import { type Lie, simulatedChain } from '../../testing/jest-simulated-chain.ts';
import { ChainNodeError, correctedId } from '../chain-source.ts';

const money = transferOf('a');
const larger: Lie = (transfers) => transfers.map((transfer) => ({ ...transfer, units: 1_000n * transfer.units }));
const omitted: Lie = () => [];
const FIRST_BLOCKS = 3;
/** The first readings of each block are a lie. */
const firstReadings = (count: number, lie: Lie): Lie => {
  const readings = new Map<string, number>();
  return (transfers, about) => {
    if (about.ref.height <= FIRST_BLOCKS) return transfers;
    const reading = (readings.get(about.ref.hash) ?? 0) + 1;
    readings.set(about.ref.hash, reading);
    return reading <= count ? lie(transfers, about) : transfers;
  };
};
const secondReading = (lie: Lie): Lie => {
  const isFirst = firstReadings(1, omitted);
  const isOneOfTwo = firstReadings(2, omitted);
  return (transfers, about) => {
    const [first, two] = [isFirst(transfers, about), isOneOfTwo(transfers, about)];
    return two.length < first.length ? lie(transfers, about) : transfers;
  };
};
const ofNode =
  (node: number, lie: Lie): Lie =>
  (transfers, about) =>
    about.node === node ? lie(transfers, about) : transfers;

const SETTLE_MS = 15_000;

/** A chain of three blocks, and a process that has read it. */
const watchNodes = async (
  { nodes = 1, isProven = false } = {},
  { recheckDepth = 2, ...options }: Parameters<typeof chainProcesses>[1] = {},
) => {
  const chain = simulatedChain({ nodes, isProven });
  chain.mineMany(FIRST_BLOCKS);
  const watching = chainProcesses(chain, { kind: { ...KIND, settleMs: SETTLE_MS }, recheckDepth, ...options });
  await watching.readOn();
  const readLater = async () => {
    watching.passMs(10 * SETTLE_MS);
    await watching.readOn();
  };
  return { chain, watching, readLater };
};

test('reads each block twice, the second time when it is deep enough', async () => {
  const { chain, watching } = await watchNodes();
  expect([chain.readings(), watching.tables.rechecked()]).toEqual([5, 2]);
  chain.mine(money);
  await watching.readOn();
  expect([chain.readings(), watching.tables.rechecked()]).toEqual([7, 3]);
  chain.mineMany(100);
  await watching.readOn();
  expect([chain.readings(), watching.tables.rechecked()]).toEqual([207, 103]);
});

test('fetches blocks ahead while it catches up', async () => {
  const chain = simulatedChain();
  chain.mineMany(FIRST_BLOCKS);
  const seen = new Set<string>();
  let [inFlight, most] = [0, 0];
  const block: typeof chain.source.block = async (ref, ...rest) => {
    const isAgain = seen.has(ref.hash);
    seen.add(ref.hash);
    inFlight += Number(isAgain);
    most = Math.max(most, inFlight);
    await setImmediate();
    inFlight -= Number(isAgain);
    return chain.source.block(ref, ...rest);
  };
  const watching = chainProcesses({ ...chain, source: { ...chain.source, block } }, { recheckDepth: 6 });
  await watching.readOn();
  chain.mine(money);
  chain.mineMany(100);
  await watching.readOn();
  expect(most).toBe(4);
  expect(chain.readings()).toBe(FIRST_BLOCKS + 101 + (chain.height() - 5));
  expect(watching.paymentOf(money)?.status).toBe('applied');
});

test('confirms no transfer whose block could not be read again, and reads on meanwhile', async () => {
  const { chain, watching, readLater } = await watchNodes();
  chain.mine(money);
  await watching.readOn();
  const again = firstReadings(1, (transfers) => transfers);
  const known = chain.height();
  chain.setLie((transfers, about) => {
    if (about.ref.height <= known) throw new ChainNodeError('timeout', 'node 1 did not answer');
    return again(transfers, about);
  });
  chain.mineMany(5);
  await readLater();
  expect(watching.paymentOf(money)?.status).toBe('received');
  expect(watching.progress()).toMatchObject({ state: 'at_tip', height: chain.height(), recheckLag: 5 });
  await readLater();
  expect(watching.progress().unsettled).toEqual({ readings: 1, quorum: 0 });
  chain.setLie(null);
  await readLater();
  expect(watching.paymentOf(money)?.status).toBe('applied');
  await readLater();
  expect(watching.progress().unsettled).toEqual({ readings: 0, quorum: 0 });
});

test('records no checkpoint above a block that was not read again', async () => {
  const { chain, watching, readLater } = await watchNodes();
  const known = chain.height();
  chain.setLie((transfers, { ref }) => {
    if (ref.height === known) throw new ChainNodeError('timeout', 'node 1 did not answer');
    return transfers;
  });
  chain.mineMany(3 * KIND.windowBlocks);
  await watching.readOn();
  expect(watching.progress()).toMatchObject({ state: 'at_tip', height: chain.height() });
  expect(watching.recorded.places).toHaveLength(1);
  chain.setLie(null);
  await readLater();
  expect(watching.recorded.places).toHaveLength(2);
});

test('finds money that the first reading left out, confirms it after a further reading, and names the node', async () => {
  const { chain, watching, readLater } = await watchNodes();
  chain.setLie(firstReadings(1, omitted));
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'received', block: chain.refAt(4) });
  expect(watching.counted.missed).toEqual([]);
  await readLater();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'applied', confirmations: 2 });
  expect(watching.counted).toMatchObject({ missed: [1], misread: [] });
});

test('asks another node, and a third one at once where they differ', async () => {
  const { chain, watching } = await watchNodes({ nodes: 3 });
  chain.setLie(ofNode(1, omitted));
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
  expect(watching.counted).toMatchObject({ missed: [1], misread: [] });
  expect(watching.tables.transfers()).toMatchObject([{ seen: { shownBy: [2, 3], missedBy: [1] } }]);
});

test('one node against one decides nothing: the payment waits, and the alarm says so', async () => {
  const { chain, watching, readLater } = await watchNodes({ nodes: 2 });
  chain.setLie(ofNode(1, omitted));
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  for (let n = 0; n < 5; n += 1) await readLater();
  expect(watching.paymentOf(money)?.status).toBe('received');
  expect(watching.progress().unsettled).toEqual({ readings: 1, quorum: 0 });
  chain.setLie(null);
  await readLater();
  await readLater();
  expect(watching.paymentOf(money)?.status).toBe('applied');
});

test('keeps money that one later reading leaves out, and applies it after two that show it', async () => {
  const { chain, watching, readLater } = await watchNodes();
  chain.setLie(secondReading(omitted));
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  // The node has not caught up yet: a reading right after the last one is no further evidence.
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('received');
  await readLater();
  expect(watching.paymentOf(money)?.status).toBe('received');
  await readLater();
  expect(watching.paymentOf(money)?.status).toBe('applied');
  expect(watching.events.map(({ type }) => type)).not.toContain('PaymentFailed');
});

test('takes out invented money after two readings that do not show it', async () => {
  const { chain, watching, readLater } = await watchNodes();
  chain.setLie(firstReadings(1, () => [money]));
  chain.mine();
  const block = chain.refAt(chain.height());
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'received', block });
  chain.setLie(null);
  chain.mineMany(10);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('received');
  await readLater();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'failed', failureReason: 'misread' });
  expect(watching.counted).toMatchObject({ missed: [], misread: [1] });
});

const corrected = { id: correctedId(money) };

test('fails a wrong amount that was not applied, and applies the right one as a payment of its own', async () => {
  const { chain, watching, readLater } = await watchNodes();
  chain.setLie(firstReadings(1, larger));
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'received', amountMinor: 1_000_000_000n });
  expect(watching.paymentOf(corrected)).toBeUndefined();
  await readLater();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'failed', failureReason: 'misread' });
  expect(watching.paymentOf(corrected)).toMatchObject({ status: 'applied', amountMinor: 1_000_000n, txHash: 'a' });
  expect(watching.counted.misread).toEqual([1]);
});

test('a proven second reading corrects an amount at once', async () => {
  const { chain, watching } = await watchNodes({ isProven: true });
  chain.setLie(firstReadings(1, larger));
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('failed');
  expect(watching.paymentOf(corrected)).toMatchObject({ status: 'applied', amountMinor: 1_000_000n });
});

const misread = async () => {
  const started = await watchNodes();
  const { chain, watching } = started;
  chain.setLie(firstReadings(2, larger));
  chain.mine(money);
  chain.mineMany(2);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'applied', amountMinor: 1_000_000_000n });
  return started;
};

test('a rescan corrects an amount that was applied', async () => {
  const { chain, watching } = await misread();
  watching.tables.requestRescan(1);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'failed', failureReason: 'misread' });
  expect(watching.paymentOf(corrected)).toMatchObject({ status: 'applied', amountMinor: 1_000_000n });
  chain.setLie(null);
  chain.drop(3);
  chain.mine(money);
  chain.mineMany(2 * KIND.graceBlocks + 3);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('failed');
  expect(watching.paymentOf(corrected)).toMatchObject({ status: 'applied', block: chain.refAt(4) });
  watching.tables.requestRescan(1);
  await watching.readOn();
  expect([money, corrected].map((each) => watching.paymentOf(each)?.status)).toEqual(['failed', 'applied']);
});

test.each([true, false])('corrects an applied amount whatever write the process dies at, made: %s', async (isMade) => {
  for (let writes = 0; writes < 40; writes += 1) {
    const { watching, readLater } = await misread();
    watching.tables.requestRescan(1);
    watching.crash.after(writes, !isMade);
    await watching.readOn().catch(() => {});
    watching.crash.off();
    watching.restart();
    await readLater();
    await readLater();
    expect(watching.paymentOf(money)).toMatchObject({ status: 'failed', failureReason: 'misread' });
    expect(watching.paymentOf(corrected)).toMatchObject({ status: 'applied', amountMinor: 1_000_000n });
    expect(watching.events.filter(({ type }) => type === 'PaymentReceived')).toHaveLength(2);
    expect(watching.tables.transfers().filter(({ pending }) => pending)).toEqual([]);
  }
});

test('a rescan whose first reading leaves out applied money does not reverse it', async () => {
  const { chain, watching } = await watchNodes();
  chain.mine(money);
  chain.mineMany(2);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
  chain.setLie(firstReadings(1, omitted));
  watching.tables.requestRescan(1);
  chain.mineMany(2 * KIND.graceBlocks);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
  expect(watching.events.map(({ type }) => type)).not.toContain('PaymentFailed');
});

test('a rescan does not take out money at an address that retired', async () => {
  const { chain, watching } = await watchNodes();
  chain.mine(money);
  chain.mineMany(2);
  await watching.readOn();
  watching.retire(money.address);
  watching.tables.requestRescan(1);
  chain.mineMany(3 * KIND.graceBlocks);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
  expect(watching.events.map(({ type }) => type)).not.toContain('PaymentFailed');
});

test('confirms an amount over the limit only after enough nodes showed it', async () => {
  const { chain, watching, readLater } = await watchNodes(
    { nodes: 2 },
    { quorum: ({ units }) => (units >= 1_000_000n ? 2 : 1) },
  );
  const small = transferOf('small', { units: 999_999n });
  chain.setSilent([2]);
  chain.mine(money, small);
  chain.mine();
  await watching.readOn();
  await readLater();
  expect([money, small].map((each) => watching.paymentOf(each)?.status)).toEqual(['received', 'applied']);
  expect(watching.progress().unsettled).toEqual({ readings: 0, quorum: 1 });
  chain.setSilent([]);
  await readLater();
  expect(watching.paymentOf(money)?.status).toBe('applied');
  await readLater();
  expect(watching.progress().unsettled).toEqual({ readings: 0, quorum: 0 });
});

test('counts all money at an address towards the limit, and asks a third node for it', async () => {
  const { chain, watching } = await watchNodes({ nodes: 3 }, { quorum: ({ units }) => (units > 1_000_000n ? 3 : 1) });
  const parts = ['p', 'q'].map((id) => transferOf(id, { address: 'address-of-both' }));
  chain.mine(...parts);
  chain.mine();
  await watching.readOn();
  expect(parts.map((part) => watching.paymentOf(part)?.status)).toEqual(['applied', 'applied']);
  expect(watching.tables.transfers().map(({ seen }) => seen.shownBy)).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
  const readings = chain.readings();
  await watching.readOn();
  expect(chain.readings()).toBe(readings);
});

test('reads a block again early for a merchant who requires fewer confirmations', async () => {
  const { chain, watching } = await watchNodes({}, { recheckDepth: 6, required: 1 });
  chain.setLie(firstReadings(1, omitted));
  chain.mine(transferOf('omitted'));
  await watching.readOn();
  chain.setLie(null);
  chain.mine(money);
  await watching.readOn();
  expect(watching.paymentOf(money)).toMatchObject({ status: 'applied', confirmations: 1 });
});

test('reads a block again at its depth for a merchant who requires more confirmations', async () => {
  const { chain, watching } = await watchNodes({}, { recheckDepth: 1, required: 8 });
  chain.mine(money);
  await watching.readOn();
  expect(watching.tables.rechecked()).toBe(chain.height());
  chain.mineMany(7);
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
});

test('a reorganization takes back the second reading', async () => {
  const { chain, watching } = await watchNodes();
  chain.mineMany(5);
  await watching.readOn();
  expect(watching.tables.rechecked()).toBe(7);
  chain.drop(4);
  chain.setLie(firstReadings(1, omitted));
  chain.mine(money);
  chain.mineMany(5);
  await watching.readOn();
  expect(watching.tables.rechecked()).toBe(chain.height() - 1);
  expect(watching.paymentOf(money)?.status).toBe('received');
});

test('a node without traces does not take out what a contract paid', async () => {
  const { chain, watching } = await watchNodes({ nodes: 2 });
  const call = { ...money, id: 'a:native1' };
  chain.setUntraced([2]);
  chain.mine(call);
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(call)?.status).toBe('applied');
  chain.setUntraced([1, 2]);
  watching.tables.requestRescan(1);
  chain.mineMany(2 * KIND.graceBlocks);
  await watching.readOn();
  expect(watching.paymentOf(call)?.status).toBe('applied');
});

test('counts coins that no transfer explains where no node has traces', async () => {
  const address = 'address-of-a';
  const { chain, watching } = await watchNodes({}, { openAddresses: async () => [address, 'address-of-b'] });
  chain.setUntraced([1]);
  let paid = 5n;
  chain.setBalances(async ({ height }) => new Map([[address, height < 4 ? 2n : 2n + paid]]));
  chain.mine({ ...money, asset: COIN, units: 5n });
  chain.mine();
  await watching.readOn();
  expect(watching.counted.unexplained).toBe(0);
  paid = 6n;
  watching.tables.requestRescan(1);
  await watching.readOn();
  expect(watching.counted.unexplained).toBe(1);
});

describe('coins that the only node leaves out in both readings, and that balances show', () => {
  const coins = { ...money, asset: COIN, units: 5n };
  const leavingOut = async (readings: number) => {
    const watched = await watchNodes({}, { openAddresses: async () => [coins.address] });
    watched.chain.setLie(firstReadings(readings, omitted));
    watched.chain.setBalances(async ({ height }) => new Map([[coins.address, height <= FIRST_BLOCKS ? 0n : 5n]]));
    watched.chain.mine(coins);
    watched.chain.mine();
    await watched.watching.readOn();
    return watched;
  };

  test('are found by a further reading', async () => {
    const { watching, readLater } = await leavingOut(2);
    await readLater();
    await readLater();
    expect(watching.tables.transfers()).toMatchObject([{ id: coins.id, units: 5n }]);
    expect(watching.counted).toMatchObject({ missed: [1], unexplained: 0 });
    expect(watching.tables.rechecked()).toBe(FIRST_BLOCKS + 1);
  });

  test('are counted when no reading shows them for long, and hold up no later block', async () => {
    const { watching, readLater } = await leavingOut(1_000);
    expect(watching.tables.rechecked()).toBe(FIRST_BLOCKS);
    expect(watching.counted.unexplained).toBe(0);
    await readLater();
    expect(watching.counted.unexplained).toBe(1);
    expect(watching.tables.rechecked()).toBe(FIRST_BLOCKS + 1);
  });
});
