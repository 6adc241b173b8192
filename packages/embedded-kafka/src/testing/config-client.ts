import { type RawClient, onConnection } from './raw-client.ts';

const [ALTER, INCREMENTAL_ALTER] = [33, 44];
const TOPIC = 2;

export type ConfigChange = readonly [name: string, operation: number, value: string | null];

/** Replaces all settings of the topic. Resolves to the error code. */
export const alterConfigs = (
  brokers: string,
  topic: string,
  entries: readonly (readonly [string, string])[],
  validateOnly = false,
): Promise<number> =>
  onConnection(brokers, (client) =>
    errorOf(
      client.request(ALTER, 1, (body) => {
        body.array([topic], (name) =>
          body
            .int8(TOPIC)
            .string(name)
            .array(entries, ([setting, value]) => body.string(setting).string(value)),
        );
        body.boolean(validateOnly);
      }),
    ),
  );

/** Changes some settings of the topic. Resolves to the error code. */
export const incrementalAlterConfigs = (
  brokers: string,
  topic: string,
  changes: readonly ConfigChange[],
  validateOnly = false,
): Promise<number> =>
  onConnection(brokers, (client) =>
    errorOf(
      client.request(INCREMENTAL_ALTER, 0, (body) => {
        body.array([topic], (name) =>
          body
            .int8(TOPIC)
            .string(name)
            .array(changes, ([setting, operation, value]) => body.string(setting).int8(operation).string(value)),
        );
        body.boolean(validateOnly);
      }),
    ),
  );

const errorOf = async (answer: ReturnType<RawClient['request']>): Promise<number> => {
  const response = await answer;
  response.int32();
  return response.array(() => {
    const error = response.int16();
    response.nullableString();
    response.int8();
    response.string();
    return error;
  })[0]!;
};
