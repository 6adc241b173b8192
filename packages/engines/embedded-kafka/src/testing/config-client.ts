import type { ConfigEntry } from '../storage/topic-config.ts';
import { onConnection } from './raw-client.ts';

const ALTER_CONFIGS = 33;
const TOPIC = 2;

/** Replaces all settings of the topic. Resolves to the error code. */
export const alterConfigs = (
  brokers: string,
  topic: string,
  entries: readonly ConfigEntry[],
  validateOnly = false,
): Promise<number> =>
  onConnection(brokers, async (client) => {
    const response = await client.request(ALTER_CONFIGS, 1, (body) => {
      body.array([topic], (name) =>
        body
          .int8(TOPIC)
          .string(name)
          .array(entries, ([setting, value]) => body.string(setting).string(value)),
      );
      body.boolean(validateOnly);
    });
    response.int32();
    return response.array(() => {
      const error = response.int16();
      response.nullableString();
      response.int8();
      response.string();
      return error;
    })[0]!;
  });
