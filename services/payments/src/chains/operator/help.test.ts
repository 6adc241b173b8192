import { commandsWithoutExample } from '@cpg/platform/commands/testing';
import { addUnclaimedCommands } from '../../matching/unclaimed-commands.ts';
import { addChainsCommands } from './chains-commands.ts';

const nothing = async (): Promise<void> => {};

test('the help of each command shows an example', () => {
  const missing = commandsWithoutExample((program) => {
    addChainsCommands(program, nothing);
    addUnclaimedCommands(program, nothing);
  });
  expect(missing).toEqual([]);
});
