import { AppError } from '@cpg/contracts';
import type { Logger } from '@cpg/platform';
import { unshownAddresses, type UnshownAddressesOptions } from './unshown-addresses.ts';

const addressesOf = (readAccounts: UnshownAddressesOptions['readAccounts']) => {
  const logged: string[] = [];
  const log = {
    warn: (_: unknown, text: string) => void logged.push(`warn: ${text}`),
    error: (_: unknown, text: string) => void logged.push(`error: ${text}`),
  } as unknown as Logger;
  let skipped = 0;
  const addresses = unshownAddresses({
    // Neither is asked for accounts that cannot be read, or are unknown.
    client: null as never,
    db: { query: async () => ({ rows: [], rowCount: 0 }) } as never,
    readAccounts,
    onSkipped: () => (skipped += 1),
    now: () => new Date(0),
    log,
  });
  return { ...addresses, logged, skipped: () => skipped };
};

describe('addresses that no order shows', () => {
  afterEach(() => void Reflect.deleteProperty(performance, 'now'));

  test('are derived once in ten seconds', async () => {
    let reads = 0;
    const { keep } = addressesOf(async () => ((reads += 1), []));
    const counts: number[] = [];
    for (const ms of [0, 9_999, 10_000, 19_999, 20_000]) {
      performance.now = () => ms;
      await keep();
      counts.push(reads);
    }
    expect(counts).toEqual([1, 1, 2, 2, 3]);
  });

  test('stop no chain when they cannot be derived', async () => {
    const { keep, logged } = addressesOf(async () => {
      throw new AppError('dependency_unavailable', 'no');
    });
    await keep();
    expect(logged).toEqual(['warn: addresses that no order shows are not derived yet']);
  });
});

describe('indexes that received money', () => {
  const found = [{ account: 'f00dcafe', index: 7 }];

  test('wait for accounts that cannot be read for the moment', async () => {
    const { skipUsed, logged } = addressesOf(async () => {
      throw new AppError('dependency_unavailable', 'no');
    });
    await expect(skipUsed(found)).rejects.toMatchObject({ code: 'dependency_unavailable' });
    expect(logged).toEqual([]);
  });

  test('stop no chain when a key cannot be read at all', async () => {
    const { skipUsed, logged, skipped } = addressesOf(async () => {
      throw new Error('the recorded key is not the one that was set');
    });
    await skipUsed(found);
    expect(logged).toEqual(['error: indexes that received money cannot be skipped']);
    expect(skipped()).toBe(0);
  });

  test('are nothing to skip in an account that is unknown', async () => {
    const { skipUsed, logged, skipped } = addressesOf(async () => []);
    await skipUsed(found);
    expect([logged, skipped()]).toEqual([[], 0]);
  });
});
