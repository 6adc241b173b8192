// Jest compiles every module again for each test file: a third of the time of loading it.
// This keeps what V8 compiled for the next test file of the process.
const vm = require('node:vm');

const { Script, SourceTextModule } = vm;

/** CommonJS modules by file name. Test files share the compiled functions, each in its own context. */
const scripts = new Map();

vm.compileFunction = (source, parameters, { filename, parsingContext, importModuleDynamically }) => {
  const known = scripts.get(filename);
  const module = known?.source === source ? known : compile(source, parameters, filename);
  module.importLater = importModuleDynamically;
  scripts.set(filename, module);
  return module.script.runInContext(parsingContext);
};

const compile = (source, parameters, filename) => {
  const head = `(function (${parameters.join(', ')}) {`;
  const module = { source };
  module.script = new Script(`${head}${source}\n})`, {
    filename,
    columnOffset: -head.length,
    // The import belongs to the test file that runs now.
    importModuleDynamically: (...args) => module.importLater(...args),
  });
  return module;
};

/** By module: its source and what V8 compiled. */
const compiled = new Map();

// In cached code, V8 gives an `import()` to a test file that has ended.
const IMPORTS_LATER = /\bimport\s*\(/;

vm.SourceTextModule = class extends SourceTextModule {
  constructor(source, options) {
    const known = compiled.get(options.identifier);
    const cachedData = known?.source === source ? known.data : undefined;
    super(source, cachedData ? { ...options, cachedData } : options);
    if (cachedData || IMPORTS_LATER.test(source)) return;
    compiled.set(options.identifier, { source, data: this.createCachedData() });
  }
};
