import { startNodeProxy } from '../testing/jest-node-proxy.ts';
import { agreedPositions } from './agreement.ts';
import { openNodes } from './nodes.ts';

test('reports nodes that differ as a fault, for the alarm of operators', async () => {
  const hashes = ['a', 'b'];
  const proxies = await Promise.all(hashes.map((hash) => startNodeProxy(() => Promise.resolve(hash))));
  const faults: string[] = [];
  const nodes = openNodes(
    { urls: proxies.map(({ url }) => url), onFault: (fault) => faults.push(fault) },
    async () => {},
  );
  const positions = agreedPositions(nodes, {
    height: () => Promise.resolve(7),
    hashAt: async (node) => (await node.call('hash')) as string,
  });
  await expect(positions.at(7)).rejects.toThrow('the nodes differ on the block at height 7');
  expect(faults).toEqual(['disagreement', 'disagreement']);
  await nodes.close();
  await Promise.all(proxies.map((proxy) => proxy.close()));
});
