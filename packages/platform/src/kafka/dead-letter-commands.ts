import { parseArgs } from 'node:util';
import { TOPICS } from '@cpg/contracts';
import type { Kafka } from 'kafkajs';
import { ConfigError, KafkaConfig, readConfig } from '../config/config.ts';
import { createLogger } from '../log/logger.ts';
import { writeFailure, writeLine } from '../log/write-line.ts';
import { createKafka } from './client.ts';
import { createDeadLetters, type DeadLetter } from './dead-letters.ts';

const USAGE = `  dlq list                             show the number of pending dead letters of each topic
  dlq show TOPIC                       show each pending dead letter: its offset, the group that could not process it, the reason
  dlq show TOPIC --offset N            show one dead letter with its value
  dlq redrive TOPIC [--through N]      publish dead letters again for the group that could not process them, oldest first
  dlq discard TOPIC --through N        mark dead letters as completed without publishing them

TOPIC is, for example, ${TOPICS.orders.name}. N is an offset on the dead-letter topic. If a command was interrupted, run it again.`;

/** The arguments are invalid, or the command cannot be done. The message is for the operator. */
class DeadLetterCommandError extends Error {
  override readonly name = 'DeadLetterCommandError';
}

/** Runs an operator's command on the dead-letter topics. Resolves to the exit code: 0, or 2 on an error. */
export const runDeadLetterCommand = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> => {
  try {
    const kafka = createKafka(readConfig(KafkaConfig, env), {
      clientId: 'dead-letters',
      log: createLogger({ name: 'dead-letters', level: 'silent' }),
    });
    await run(kafka, args, writeLine);
    return 0;
  } catch (error) {
    const expected = error instanceof DeadLetterCommandError || error instanceof ConfigError;
    writeFailure(error, expected);
    return 2;
  }
};

const run = async (kafka: Kafka, args: readonly string[], print: typeof writeLine): Promise<void> => {
  const { verb, topic, offset, through } = parseCommand(args);
  if (verb === 'list') {
    for (const { name } of Object.values(TOPICS))
      await print(`${name}: ${await createDeadLetters(kafka, name).count()} pending`);
    return;
  }
  const letters = createDeadLetters(kafka, topic);
  switch (verb) {
    case 'show': {
      if (offset === undefined) {
        const count = await letters.read((letter) => print(summaryOf(letter)));
        return count > 0 ? undefined : print('no pending dead letters');
      }
      const range = { from: offset, through: offset };
      const count = await letters.read((letter) => print(JSON.stringify(letter, null, 2)), range);
      if (count === 0) throw new DeadLetterCommandError(`no pending dead letter at offset ${offset}`);
      return;
    }
    case 'redrive':
      return print(`${await letters.redrive(through)} published again on ${topic}`);
    case 'discard':
      if (through === undefined)
        throw new DeadLetterCommandError('--through is missing: give the offset of the last dead letter to discard');
      return print(`${await letters.discard(through)} discarded`);
    default:
      throw new DeadLetterCommandError(USAGE);
  }
};

const parseCommand = (args: readonly string[]) => {
  try {
    const text = { type: 'string' } as const;
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { offset: text, through: text },
    });
    const [verb = '', topic = '', ...rest] = positionals;
    const isKnownTopic = Object.values(TOPICS).some(({ name }) => name === topic);
    if (rest.length > 0) throw new Error(`unexpected argument: ${rest[0]}`);
    if (verb === 'list' ? topic !== '' : !isKnownTopic)
      throw new Error(topic ? `unknown topic: ${topic}` : 'the topic is missing');
    return { verb, topic, offset: parseOffset(values.offset), through: parseOffset(values.through) };
  } catch (error) {
    throw new DeadLetterCommandError(`${(error as Error).message}\n\n${USAGE}`);
  }
};

const parseOffset = (text: string | undefined): bigint | undefined => {
  if (text !== undefined && !/^\d+$/.test(text)) throw new Error(`not an offset: ${text}`);
  return text === undefined ? undefined : BigInt(text);
};

const summaryOf = ({ offset, group, partition, at, key, reason }: DeadLetter): string =>
  `${offset}  ${group || 'unknown group'}  from ${partition}/${at}  key ${key ?? 'none'}  ${reason.split('\n')[0]}`;
