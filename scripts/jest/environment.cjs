const asyncHooks = require('node:async_hooks');
const { TestEnvironment } = require('jest-environment-node');

const { AsyncLocalStorage } = asyncHooks;
const storages = new Set();
asyncHooks.AsyncLocalStorage = class extends AsyncLocalStorage {
  constructor(...args) {
    super(...args);
    storages.add(this);
  }
};

/** The environment of Node.js. When a test file ends, it disables the storages of that file: jest creates one for each
 *  file, and on Node.js 20 each promise copies the value of every enabled storage of the process. */
module.exports = class extends TestEnvironment {
  async teardown() {
    await super.teardown();
    for (const storage of storages) storage.disable();
    storages.clear();
  }
};
