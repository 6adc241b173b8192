import { isFree } from '@cpg/ports';
import { reservePorts } from './ports.ts';

it('keeps other stacks away from the ports of a second and third instance', async () => {
  const { offset, release } = await reservePorts();
  const reservedBy = (other: number) => isFree(4099 + other).then((free) => !free);

  expect(await Promise.all([offset, offset + 100, offset + 200].map(reservedBy))).toEqual([true, true, true]);
  release();
});
