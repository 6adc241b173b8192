import { commandsWithoutExample, optionsWithoutDescription, runCommand } from '../commands/testing/run-command.ts';
import { addDeadLetterCommands } from './dead-letter-commands.ts';

// No setting: mistakes are found before Kafka is needed.
const dlq = (...args: string[]) => runCommand((program) => addDeadLetterCommands(program, {}), ['dlq', ...args]);

test('the help of each command shows an example', () =>
  expect(commandsWithoutExample((program) => addDeadLetterCommands(program, {}))).toEqual([]));

test('the help of each command describes its options', () =>
  expect(optionsWithoutDescription((program) => addDeadLetterCommands(program, {}))).toEqual([]));

test.each([
  [['show'], "missing required argument 'topic'"],
  [['show', 'orders.v9'], 'Allowed choices are orders.v1, payments.v1'],
  [['discard', 'orders.v1'], "required option '--through <offset>' not specified"],
])('dlq %j names the mistake', async (args, message) => {
  await expect(dlq(...args)).rejects.toThrow(message);
});
