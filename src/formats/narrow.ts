export * from "../model/narrow.ts";
