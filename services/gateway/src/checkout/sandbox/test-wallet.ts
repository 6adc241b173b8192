import { AppError } from '@cpg/contracts';
import { z } from 'zod';
import { walletTransfer } from '../state/ways.ts';

/** A wallet of test money, whose keys are at a node of this machine. */
export interface TestWallet {
  /** The CAIP-2 id of its chain; null while the node does not answer. */
  readonly chainId: () => Promise<string | null>;
  /** Sends what a way to pay on its chain asks for. Resolves once the node has accepted the transaction. */
  readonly pay: (way: Parameters<typeof walletTransfer>[0]) => Promise<void>;
}

const TIMEOUT_MS = 5_000;

const Answer = z.object({ result: z.unknown(), error: z.object({ message: z.string() }).optional() });

/** The first account of the EVM node at this address. */
export const nodeWallet = (url: string): TestWallet => {
  const call = async (method: string, ...params: unknown[]): Promise<unknown> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { result, error } = Answer.parse(await response.json());
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  let known: string | undefined;
  return {
    chainId: async () => {
      try {
        return (known ??= `eip155:${BigInt(z.string().parse(await call('eth_chainId')))}`);
      } catch {
        return null;
      }
    },
    pay: async (way) => {
      try {
        const [from] = z
          .array(z.string())
          .min(1)
          .parse(await call('eth_accounts'));
        const { to, value, data } = walletTransfer(way)!;
        await call('eth_sendTransaction', { from, to, value, data });
      } catch (cause) {
        throw new AppError('dependency_unavailable', 'the test wallet cannot pay at the moment', { cause });
      }
    },
  };
};
