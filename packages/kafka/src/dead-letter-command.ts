import { parseArgs } from 'node:util';
import { TOPICS } from '@cpg/contracts';
import { ConfigError, createLogger, KafkaConfig, readConfig, ServiceConfig, writeLine } from '@cpg/runtime';
import type { Kafka } from 'kafkajs';
import { createKafka } from './create-kafka.ts';
import { type DeadLetter, createDeadLetters } from './dead-letters.ts';

const USAGE = `  dlq list                             how many messages wait on the dead-letter topic of each topic
  dlq show TOPIC                       each of them: its offset there, who could not process it, and why
  dlq show TOPIC --offset N            all of one
  dlq redrive TOPIC [--through N]      publishes them again, oldest first, for who could not process them
  dlq discard TOPIC --through N        gives them up

TOPIC is like ${TOPICS.orders.name}; N is an offset on its dead-letter topic. Both ends of a crash are safe: run it again.`;

/** It cannot be done as it was asked for. */
class DeadLetterFault extends Error {
  override readonly name = 'DeadLetterFault';
}

const Config = ServiceConfig.pick({ CAZ_DECIMALS: true }).extend(KafkaConfig.shape);

/** Runs an operator's command on the dead-letter topics. Resolves with the exit code: 0, or 2 for what could not be done. */
export const runDeadLetterCommand = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> => {
  try {
    const kafka = createKafka(readConfig(Config, env), {
      clientId: 'dead-letters',
      log: createLogger({ name: 'dead-letters', level: 'silent' }),
    });
    await run(kafka, args, writeLine);
    return 0;
  } catch (error) {
    const expected = error instanceof DeadLetterFault || error instanceof ConfigError;
    process.stderr.write(`${expected ? error.message : `that failed: ${(error as Error).message || error}`}\n`);
    return 2;
  }
};

const run = async (kafka: Kafka, args: readonly string[], say: typeof writeLine): Promise<void> => {
  const { verb, topic, offset, through } = parsed(args);
  if (verb === 'list') {
    for (const { name } of Object.values(TOPICS))
      await say(`${name}: ${await createDeadLetters(kafka, name).count()} waiting`);
    return;
  }
  const letters = createDeadLetters(kafka, topic);
  switch (verb) {
    case 'show': {
      if (offset === undefined) {
        const shown = await letters.read((letter) => say(line(letter)));
        return shown > 0 ? undefined : say('nothing waits');
      }
      const one = { from: offset, through: offset };
      const shown = await letters.read((letter) => say(JSON.stringify(letter, null, 2)), one);
      if (shown === 0) throw new DeadLetterFault(`nothing waits at offset ${offset}`);
      return;
    }
    case 'redrive':
      return say(`${await letters.redrive(through)} published again on ${topic}`);
    case 'discard':
      if (through === undefined) throw new DeadLetterFault('--through is missing: name the last offset to give up');
      return say(`${await letters.discard(through)} given up`);
    default:
      throw new DeadLetterFault(USAGE);
  }
};

const parsed = (args: readonly string[]) => {
  try {
    const text = { type: 'string' } as const;
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { offset: text, through: text },
    });
    const [verb = '', topic = '', ...more] = positionals;
    const known = Object.values(TOPICS).some(({ name }) => name === topic);
    if (more.length > 0 || (verb === 'list' ? topic !== '' : !known)) throw new Error(`${topic || 'that'} is no topic`);
    return { verb, topic, offset: numberIn(values.offset), through: numberIn(values.through) };
  } catch (error) {
    throw new DeadLetterFault(`${(error as Error).message}\n\n${USAGE}`);
  }
};

const numberIn = (text: string | undefined): bigint | undefined => {
  if (text !== undefined && !/^\d+$/.test(text)) throw new Error(`${text} is no offset`);
  return text === undefined ? undefined : BigInt(text);
};

const line = ({ offset, group, partition, at, key, reason }: DeadLetter): string =>
  `${offset}  ${group || 'unknown group'}  from ${partition}/${at}  key ${key ?? 'none'}  ${reason.split('\n')[0]}`;
