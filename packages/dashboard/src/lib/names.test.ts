import type { ApiKey, User } from '@cpg/sdk';
import { nameOf } from './names.ts';

const users = [
  { id: 'usr_1', name: 'Ada', email: 'ada@shop.example' },
  { id: 'usr_2', email: 'bo@shop.example' },
] as User[];
const keys = [
  { id: 'key_1', label: 'till', prefix: 'ak_sandbox_a' },
  { id: 'key_2', prefix: 'ak_sandbox_b' },
] as ApiKey[];

test.each([
  ['usr_1', 'Ada'],
  ['usr_2', 'bo@shop.example'],
  ['key_1', 'till'],
  ['key_2', 'ak_sandbox_b…'],
])('%s is called %s', (id, name) => expect(nameOf(id, { users, keys })).toBe(name));

test('an id that nobody has is shortened', () => {
  const id = 'usr_01KG9Q2T8Q1A2B3C4D5E6F7G8J';
  expect(nameOf(id, { users, keys }).length).toBeLessThan(id.length);
});
