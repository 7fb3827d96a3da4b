import { tour } from "./tour.ts";

await tour((line) => console.log(line));
