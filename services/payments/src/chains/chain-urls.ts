import { HttpUrl } from '@cpg/platform';
import { z } from 'zod';

/** `CHAIN_URLS`: the nodes of each network, as JSON. URLs contain passwords and keys, so no fault shows one. */
export const ChainUrls = z
  .string()
  .default('{}')
  .transform((text, context) => {
    try {
      return JSON.parse(text || '{}') as unknown;
    } catch {
      context.addIssue({
        code: 'custom',
        message: 'must be JSON like {"bitcoin":["http://user:password@127.0.0.1:8332"]}',
      });
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.array(HttpUrl).min(1)));

export type ChainUrls = z.infer<typeof ChainUrls>;

/** The networks with nodes: the ones whose chains are read. */
export const watchedNetworks = <N extends { readonly name: string }>({
  networks,
  CHAIN_URLS,
}: {
  readonly networks: readonly N[];
  readonly CHAIN_URLS: ChainUrls;
}): N[] => networks.filter(({ name }) => CHAIN_URLS[name] !== undefined);
