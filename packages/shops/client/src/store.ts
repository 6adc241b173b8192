/** A few named texts that outlive the process, in the shop's own database. All processes of the shop share them. A
 *  table with two columns is enough, `name` as its primary key. */
export interface Store {
  readonly read: (name: string) => Promise<string | undefined>;
  /** Stores `next` only if the stored text is still `expected`, where undefined is none. Resolves with whether it
   *  stored it. One atomic statement, durable when it resolves: `insert … on conflict do nothing`, or `update … where
   *  name = … and text = …`. */
  readonly replace: (name: string, expected: string | undefined, next: string) => Promise<boolean>;
}
