import { rightToEnter } from './unprivileged.ts';

const statusWith = (permitted: string) => `Name:\tnode\nCapInh:\t0000000000000000\nCapPrm:\t${permitted}\nCapEff:\t0\n`;

test.each([
  ['root of a machine', '000001ffffffffff', 'dac_read_search'],
  ['root of a Docker container', '00000000a80425fb', 'dac_override'],
])('enters closed folders with the smallest right that %s can grant', (_, permitted, right) => {
  expect(rightToEnter(statusWith(permitted))).toBe(right);
});
