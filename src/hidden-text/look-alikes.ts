/**
 * Characters that Unicode lists as confusable with one ASCII character (confusables.txt of UTS #39, version 10). Excluded are
 * those with a compatibility decomposition, marks, letters outside the basic plane, and б and σ, which would mark many Russian
 * and Greek words that nobody confuses.
 */
const CONFUSABLE =
  "´¸×ƄƍƦƧƷƼƽȜȢȣɁɣɯʋʔʾˊ˛˴ͺͿ΄ϜϨϲϹϺЗѡѴѵҽӀӠՕ՚՝ագռք։\u05d5\u05d8\u05d9\u05df\u05e1\u05f3\u060d\u0627\u0647\u0661" +
  "\u0665\u0667\u066b\u06be\u06c1\u06d5\u06f1\u06f5\u06f7\u0703\u0704\u07c0\u07ca\u07f4\u07f5०ॽ৪৭੧੪૦ଠ୨౦೦ഠ൦൭ဝყჿሀ" +
  "ዐᎥᎩᎮᏎᏕᏧᏮᏳᏴ᐀ᐯᐳᐸᑊᑌᑭᑯᒍᒪᒿᕁᕼᕽᖇᖯᖴᗅᗞᗪᗰᗷ᙭᙮ᚲᚷᛁᛌᛕᛖ᛬᛭᜵᠃᠉ᴑᴜᴦᶃᶌẝỿ᾽᾿῀´῾⁁⁓⁚℮∨∪⊤⋁⋃⋿⍳⍴⍺⏽╱╳❮❯➕➖⟋⟍⟙⤫⤬⨯ⲅⲎⲒⲔⲘⲚⲞⲟⲢⲣⲤⲥⲦⲨⲬⲺⳆⳊⳌⳐⳒⴸⴹⵏⵑ" +
  "ⵔⵕⵝ⹀〇〳゠ノ㇓㇔丶丿ꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴꓹꓽ꓿꘎ꙄꙇꛟꛫꛯꜱꝚꝪꝮꝸꞘꞙꞟꞫꞲꞳꞴꬲꬵꬽꭇꭈꭎꭒꭚꭵꮁꮃꮓꮩꮪꮯ﴾﴿￨\u{10a50}\u{1d114}\u{1d206}" +
  "\u{1d20d}\u{1d20f}\u{1d212}\u{1d213}\u{1d216}\u{1d22a}\u{1d236}\u{1d237}\u{1d23a}\u{1d23b}\u{1f74c}\u{1f768}";

/** Further look-alikes: small capitals of other scripts, dashes, quotes, brackets, and strokes of wide letters. */
const ALSO =
  "аАВеЕСсԁɡһНіІϳјЈКӏМоОрРԛѕЅТԜԝуУхХҮүԌԍԚвкмнтгпьЬ" +
  "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγεικνορτυχωη" +
  "ՍսօոցհյՏԼզ" +
  "ᎠᎡᎢᎪᎫᎬᎳᎵᎷᎻᎽᏀᏂᏃᏆᏏᏒᏔᏙᏚᏞᏟᏢᏦ" +
  "ıȷɑɩʟɪɴʀʏᴄᴏᴠᴡᴢƖǀǃʻʼʽʹ˂˃˄ˆˈˋː˸˗˜" +
  "‐‑‒–—―−‘’‚‛“”„‟′″‵‶‹›⁃⁄∕∖∗∙·•∣∶∼≀⁎⁏⁑⧵⧸⧹❨❩❲❳❴❵｡。、〃〈〉《》「」『』【】〔〕〖〗ꓸ꞉ꞌꓺߺ٭۔܁܂׃׀،؛٪।੦০୦௦๐໐၀٠۰" +
  "ǁ០߀ᱹㅡㅣㅇ一ーゝ⠂⠄⠠꞊﹘❘‗‖‧⸜⸳⸺";

/**
 * Letters, digits and signs that look like an ASCII character. Right-to-left ones are written as escapes, to keep the source
 * readable.
 */
export const LOOK_ALIKES: ReadonlySet<string> = new Set(CONFUSABLE + ALSO);
