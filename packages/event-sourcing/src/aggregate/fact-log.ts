import type { Logger } from '@cpg/platform';
import type { CommandHandler } from './command-handler.ts';
import type { DomainEvent } from '../store/recorded.ts';

/** Logs one info line for each recorded event that has a sentence, wherever its command came from. A command that
 *  changes nothing logs nothing. A crash after the append loses the line, but not the event. */
export const withFactLog = <State, Command, E extends DomainEvent>(
  handler: CommandHandler<State, Command, E>,
  {
    sentences,
    fieldsOf,
    log,
  }: {
    readonly sentences: { readonly [T in E['type']]?: string };
    /** The ids of a stream, for each of its lines. */
    readonly fieldsOf: (id: string, state: State) => object;
    readonly log: Logger;
  },
): CommandHandler<State, Command, E> => ({
  ...handler,
  handle: async (id, command, context, options) => {
    const handled = await handler.handle(id, command, context, options);
    for (const { event } of handled.events) {
      const sentence = sentences[event.type as E['type']];
      if (sentence) log.info({ ...fieldsOf(id, handled.state), requestId: context.requestId }, sentence);
    }
    return handled;
  },
});
