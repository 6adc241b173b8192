import { startGateway } from '../testing/jest-gateway.ts';

// Node.js warns of a leak beyond the maximum.
test('no response has more listeners than are allowed when a browser loads the reference and the guide', async () => {
  const { app, close } = await startGateway({});
  const spare: number[] = [];
  app.server.on('request', (_request, response) =>
    response.once('finish', () => spare.push(response.getMaxListeners() - response.listenerCount('close'))),
  );
  try {
    const base = await app.listen({ port: 0, host: '127.0.0.1' });
    for (const path of ['/docs', '/openapi.json', '/docs/guide']) {
      const answer = await fetch(base + path, { headers: { 'accept-encoding': 'gzip, deflate, br, zstd' } });
      expect([path, answer.status]).toEqual([path, 200]);
      await answer.arrayBuffer();
    }
    expect(spare).toHaveLength(3);
    expect(Math.min(...spare)).toBeGreaterThanOrEqual(0);
  } finally {
    await close();
  }
});
