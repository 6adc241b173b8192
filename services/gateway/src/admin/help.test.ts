import { commandsWithoutExample } from '@cpg/platform/commands/testing';
import { addClockCommands } from './clock.ts';
import { addDepositSettingsCommands } from './deposit-commands.ts';
import { addKeyCommands } from './key-commands.ts';
import { addMerchantCommands } from './merchant-commands.ts';
import { addOrderCommands } from './order-commands.ts';
import { addSecretsCommands } from './secrets.ts';
import { addWebhooksCommands } from './webhooks.ts';

const nothing = async (): Promise<void> => {};

test('the help of each command shows an example', () => {
  const missing = commandsWithoutExample((program) => {
    for (const add of [
      addMerchantCommands,
      addKeyCommands,
      addDepositSettingsCommands,
      addOrderCommands,
      addSecretsCommands,
      addClockCommands,
      addWebhooksCommands,
    ])
      add(program, nothing);
  });
  expect(missing).toEqual([]);
});
