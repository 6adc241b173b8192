import type { ChainNode } from '@cpg/local-chain';
import { freePort } from '@cpg/ports';
import { startProxies } from '../harness/proxies.ts';

/** The address of a chain node, where another node can take its place. */
export interface NodeRoute {
  /** What services read. */
  readonly url: string;
  readonly leadTo: (node: ChainNode) => void;
  /** Refuses connections, as if no node ran. Resolves to a function that accepts them again. */
  readonly block: () => Promise<() => Promise<void>>;
  readonly close: () => void;
}

export const routeTo = async (node: ChainNode): Promise<NodeRoute> => {
  const port = await freePort();
  const proxies = await startProxies([{ name: 'node', port, target: portOf(node) }]);
  const url = new URL(node.url);
  url.port = String(port);
  return {
    url: url.href,
    leadTo: (other) => proxies.redirect('node', portOf(other)),
    block: () => proxies.block('node'),
    close: proxies.close,
  };
};

const portOf = ({ url }: ChainNode): number => Number(new URL(url).port);
