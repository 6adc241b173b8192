// Runs the conformance tests against Apache Kafka. Without it, they count as skipped.
const { APACHE_KAFKA_BROKERS } = process.env;
if (APACHE_KAFKA_BROKERS) process.env.KAFKA_BROKERS = APACHE_KAFKA_BROKERS;
else globalThis.test = Object.assign(globalThis.test.skip, { skip: globalThis.test.skip });
