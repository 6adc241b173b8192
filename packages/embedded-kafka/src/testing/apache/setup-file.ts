// The conformance tests meet the real broker, or are counted as skipped where there is none.
const { APACHE_KAFKA_BROKERS } = process.env;
if (APACHE_KAFKA_BROKERS) process.env.KAFKA_BROKERS = APACHE_KAFKA_BROKERS;
else globalThis.test = Object.assign(globalThis.test.skip, { skip: globalThis.test.skip });
