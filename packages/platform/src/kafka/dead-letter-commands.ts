import { TOPICS } from '@cpg/contracts';
import { type AdminCommand, Argument, CommandError } from '../commands/admin-commands.ts';
import { KafkaConfig, readConfig } from '../config/config.ts';
import { createLogger } from '../log/logger.ts';
import { writeLine } from '../log/write-line.ts';
import { createKafka } from './client.ts';
import { createDeadLetters, type DeadLetter } from './dead-letters.ts';

const TOPIC_NAMES = Object.values(TOPICS).map(({ name }) => name);

/** Adds the commands on the dead-letter topics. If one is interrupted, run it again. */
export const addDeadLetterCommands = (program: AdminCommand, env: NodeJS.ProcessEnv): void => {
  const dlq = program.command('dlq').description('dead letters: Kafka messages that a group could not process');
  const log = createLogger({ name: 'dead-letters', level: 'silent' });
  const lettersOf = (topic: string) =>
    createDeadLetters(createKafka(readConfig(KafkaConfig, env), { clientId: 'dead-letters', log }), topic);
  const ofTopic = () => new Argument('<topic>', 'the topic of the messages').choices(TOPIC_NAMES);
  const OFFSET = '<offset>, a place on the dead-letter topic';

  dlq
    .command('list')
    .description('show how many dead letters of each topic are pending')
    .examples('dlq list')
    .runs(async () => {
      for (const name of TOPIC_NAMES) await writeLine(`${name}: ${await lettersOf(name).count()} pending`);
    });
  dlq
    .command('show')
    .description('show the pending dead letters: offset, group and reason; or one with its value')
    .addArgument(ofTopic())
    .option('--offset <offset>', `show the one at ${OFFSET}, with its value`)
    .examples(`dlq show ${TOPIC_NAMES[0]}`, `dlq show ${TOPIC_NAMES[0]} --offset 12`)
    .runs(async (topic: string, { offset: text }: { offset?: string }) => {
      const letters = lettersOf(topic);
      if (text === undefined) {
        const count = await letters.read((letter) => writeLine(summaryOf(letter)));
        return count > 0 ? undefined : 'no pending dead letters';
      }
      const offset = offsetIn('--offset', text);
      const range = { from: offset, through: offset };
      const count = await letters.read((letter) => writeLine(JSON.stringify(letter, null, 2)), range);
      if (count === 0) throw new CommandError(`no pending dead letter at offset ${offset}`);
      return undefined;
    });
  dlq
    .command('redrive')
    .description('publish them again for the group that could not process them, oldest first')
    .addArgument(ofTopic())
    .option('--through <offset>', `only those up to ${OFFSET}`)
    .examples(`dlq redrive ${TOPIC_NAMES[0]}`)
    .runs(async (topic: string, { through }: { through?: string }) => {
      const last = through === undefined ? undefined : offsetIn('--through', through);
      return `${await lettersOf(topic).redrive(last)} published again on ${topic}`;
    });
  dlq
    .command('discard')
    .description('mark them as completed without publishing them')
    .addArgument(ofTopic())
    .requiredOption('--through <offset>', `those up to ${OFFSET}`)
    .examples(`dlq discard ${TOPIC_NAMES[0]} --through 12`)
    .runs(async (topic: string, { through }: { through: string }) => {
      const last = offsetIn('--through', through);
      return `${await lettersOf(topic).discard(last)} discarded`;
    });
};

const offsetIn = (option: string, text: string): bigint => {
  if (!/^\d+$/.test(text)) throw new CommandError(`${option}: ${text} is not an offset: give a whole number`);
  return BigInt(text);
};

const summaryOf = ({ offset, group, partition, at, key, reason }: DeadLetter): string =>
  `${offset}  ${group || 'unknown group'}  from ${partition}/${at}  key ${key ?? 'none'}  ${reason.split('\n')[0]}`;
