import type { AdminCommand } from '@cpg/platform/commands';
import { commandsWithoutExample, optionsWithoutDescription } from '@cpg/platform/commands/testing';
import { addClockCommands } from './clock.ts';
import { addDepositSettingsCommands } from './deposit-commands.ts';
import { addKeyCommands } from './key-commands.ts';
import { addMerchantCommands } from './merchant-commands.ts';
import { addOrderCommands } from './order-commands.ts';
import { addSecretsCommands } from './secrets.ts';
import { addUserCommands } from './user-commands.ts';
import { addWebhooksCommands } from './webhooks.ts';

const nothing = async (): Promise<void> => {};

const addAll = (program: AdminCommand): void => {
  for (const add of [
    addMerchantCommands,
    addKeyCommands,
    addUserCommands,
    addDepositSettingsCommands,
    addOrderCommands,
    addSecretsCommands,
    addClockCommands,
    addWebhooksCommands,
  ])
    add(program, nothing);
};

test('the help of each command shows an example', () => expect(commandsWithoutExample(addAll)).toEqual([]));

test('the help of each command describes its options', () => expect(optionsWithoutDescription(addAll)).toEqual([]));
