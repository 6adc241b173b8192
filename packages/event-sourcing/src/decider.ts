/** An aggregate: two pure functions and an initial state. `decide` turns a command into new events, none if nothing
 *  changes, and throws `AppError` to refuse. `evolve` folds one recorded event into the state. It never refuses, and
 *  ignores events of unknown types. */
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

/** For the default branch of `evolve`. The compiler still checks that every known event has a branch. At run time an
 *  event of an unknown type, which a newer version recorded, leaves the state unchanged. */
export const ignoreUnknownEvent = <State>(_event: never, state: State): State => state;
