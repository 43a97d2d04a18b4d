import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["out/", "bundled/", "node_modules/", "code-server/"] },
  eslint.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/dot-notation": "off", // the compiler asks for brackets where keys are open
      "@typescript-eslint/consistent-indexed-object-style": "off", // an interface has a name in messages
    },
  },
  {
    files: ["test/*.ts"],
    rules: { "@typescript-eslint/no-floating-promises": "off" }, // the runner waits for its tests
  },
);
