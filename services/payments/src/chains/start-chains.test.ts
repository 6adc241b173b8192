import type { Logger } from '@cpg/platform';
import { KIND } from '../testing/jest-chain-process.ts';
import { ChainHaltedError } from './reading/open-chain.ts';
import type { ChainProgress } from './reading/chain-progress.ts';
import { watch } from './start-chains.ts';

const MESSAGE = 'node 1 serves another chain';

/** Reads as often as there are outcomes, and resolves to the log. */
const logOf = async (outcomes: readonly (Error | { readonly stalled: string | null })[]): Promise<string[]> => {
  const lines: string[] = [];
  const writer = (level: string) => (_: object, message: string) => void lines.push(`${level}: ${message}`);
  const log = { info: writer('info'), warn: writer('warn'), error: writer('error') } as unknown as Logger;
  const stop = new AbortController();
  const left = [...outcomes];
  let stalled: string | null = null;
  const readOn = async () => {
    const outcome = left.shift();
    if (!outcome) return stop.abort();
    if (outcome instanceof Error) throw outcome;
    ({ stalled } = outcome);
  };
  const progress = () => ({ state: 'at_tip', height: 1, tip: 1, stalled }) as ChainProgress;
  await watch({ readOn, progress }, { network: 'n', kind: { ...KIND, pollMs: 1 }, signal: stop.signal, log });
  return lines;
};

test('logs a failure once, and that reading halted although the same failure was met before', async () => {
  const once = new Error(MESSAGE);
  const halted = new ChainHaltedError('other_chain', MESSAGE);
  expect(await logOf([once, once, halted, halted, { stalled: null }])).toEqual([
    'warn: reading of the chain failed, retrying',
    'error: reading of the chain halted: see docs/operators/alarms.md',
    'info: reading of the chain goes on',
  ]);
});

test('logs that a chain stalled, and that it is current again', async () => {
  const frozen = { stalled: 'every node is frozen' };
  expect(await logOf([frozen, frozen, { stalled: null }, { stalled: null }])).toEqual([
    'error: the chain is not current: its orders wait, see docs/operators/alarms.md',
    'info: the chain is current again',
  ]);
});
