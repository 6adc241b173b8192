import type { AdminCommand } from '@cpg/platform/commands';
import { commandsWithoutExample, optionsWithoutDescription } from '@cpg/platform/commands/testing';
import { addUnclaimedCommands } from '../../matching/unclaimed-commands.ts';
import { addChainsCommands } from './chains-commands.ts';

const nothing = async (): Promise<void> => {};
const addAll = (program: AdminCommand): void => {
  addChainsCommands(program, nothing);
  addUnclaimedCommands(program, nothing);
};

test('the help of each command shows an example', () => expect(commandsWithoutExample(addAll)).toEqual([]));

test('the help of each command describes its options', () => expect(optionsWithoutDescription(addAll)).toEqual([]));
