import type { CredentialWithMerchant } from './credentials.ts';

export interface CredentialLoaderOptions {
  readonly load: (kids: readonly string[]) => Promise<readonly CredentialWithMerchant[]>;
  readonly maxConcurrent?: number;
  readonly maxBatch?: number;
}

interface Waiting {
  readonly kid: string;
  readonly resolve: (credential: CredentialWithMerchant | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Loads credentials by key id. Calls that arrive while `maxConcurrent` queries run share the next one, so unknown keys
 *  from any number of addresses cost a bounded number of queries. */
export const createCredentialLoader = (options: CredentialLoaderOptions) => {
  const { load, maxConcurrent = 2, maxBatch = 500 } = options;
  let waiting: Waiting[] = [];
  let running = 0;

  const loadNext = async (): Promise<void> => {
    const batch = waiting.slice(0, maxBatch);
    waiting = waiting.slice(maxBatch);
    running += 1;
    try {
      const found = new Map(
        (await load([...new Set(batch.map(({ kid }) => kid))])).map((credential) => [credential.kid, credential]),
      );
      for (const { kid, resolve } of batch) resolve(found.get(kid) ?? null);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      running -= 1;
      startNext();
    }
  };
  const startNext = () => {
    if (waiting.length > 0 && running < maxConcurrent) void loadNext();
  };
  return (kid: string): Promise<CredentialWithMerchant | null> =>
    new Promise((resolve, reject) => {
      waiting.push({ kid, resolve, reject });
      startNext();
    });
};
