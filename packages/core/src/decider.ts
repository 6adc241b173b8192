/** An aggregate as two pure functions and a first state. `decide` turns a command into the events that follow from it, none when
 *  nothing changes, and throws `AppError` to refuse; `evolve` folds one recorded event into the state and never refuses. */
export interface Decider<State, Command, Event> {
  readonly initial: State;
  readonly decide: (command: Command, state: State) => Event[];
  readonly evolve: (state: State, event: Event) => State;
}

/** The state after `events`. */
export const fold = <State, Event>(
  decider: Pick<Decider<State, never, Event>, 'evolve'>,
  state: State,
  events: readonly Event[],
): State => events.reduce(decider.evolve, state);

/** For the default branch of an exhaustive switch: a value that the types rule out is a bug. */
export const unreachable = (value: never): never => {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
};
