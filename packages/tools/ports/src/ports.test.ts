import { freePort, isFree, listenOn } from './ports.ts';

test('free ports differ, and are not those of outgoing connections', async () => {
  const ports = [await freePort(), await freePort(), await freePort()];
  expect(new Set(ports).size).toBe(3);
  for (const port of ports) {
    expect(port).toBeGreaterThan(10_080);
    expect(port).toBeLessThan(32_768);
    expect(await isFree(port)).toBe(true);
  }
});

test('a port that a program listens on is not free', async () => {
  const port = await freePort();
  const taken = (await listenOn(port + 1))!;
  expect(await isFree(port + 1)).toBe(false);
  expect(await listenOn(port + 1)).toBeNull();
  expect(await freePort()).not.toBe(port + 1);
  await new Promise((closed) => taken.close(closed));
  expect(await isFree(port + 1)).toBe(true);
});
