// Jest compiles every module again for each test file: a third of the time of loading it.
// This keeps what V8 compiled for the next test file of the process.
const vm = require('node:vm');

// In cached code, V8 gives an `import()` to a test file that has ended.
const IMPORTS_LATER = /\bimport\s*\(/;

/** By module: its source and what V8 compiled. */
const compiled = new Map();
const cachedDataOf = (module, source) => {
  const known = compiled.get(module);
  return known?.source === source ? known.data : undefined;
};

const { compileFunction, SourceTextModule } = vm;

vm.compileFunction = (source, parameters, options) => {
  const cachedData = cachedDataOf(options.filename, source);
  if (cachedData || IMPORTS_LATER.test(source)) return compileFunction(source, parameters, { ...options, cachedData });
  const made = compileFunction(source, parameters, { ...options, produceCachedData: true });
  compiled.set(options.filename, { source, data: made.cachedData });
  return made;
};

vm.SourceTextModule = class extends SourceTextModule {
  constructor(source, options) {
    const cachedData = cachedDataOf(options.identifier, source);
    super(source, cachedData ? { ...options, cachedData } : options);
    if (cachedData || IMPORTS_LATER.test(source)) return;
    compiled.set(options.identifier, { source, data: this.createCachedData() });
  }
};
