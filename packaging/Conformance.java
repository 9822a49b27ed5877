import java.io.FileInputStream;
import java.io.InputStream;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.PDFAParser;
import org.verapdf.pdfa.PDFAValidator;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;
import org.verapdf.pdfa.results.ValidationResult;

/** Tells for each file whether veraPDF finds it to be what its own metadata claim; exits with 1 where one is not. */
public class Conformance {
    public static void main(String[] files) throws Exception {
        VeraGreenfieldFoundryProvider.initialise();
        boolean all = files.length > 0;
        for (String file : files) {
            try (InputStream stream = new FileInputStream(file);
                    PDFAParser parser = Foundries.defaultInstance().createParser(stream, PDFAFlavour.NO_FLAVOUR)) {
                PDFAFlavour claimed = parser.getFlavour();
                PDFAValidator validator = Foundries.defaultInstance().createValidator(claimed, false);
                ValidationResult result = validator.validate(parser);
                boolean holds = claimed == PDFAFlavour.PDFA_3_A && result.isCompliant();
                System.out.println((holds ? "conforms " : "FAILS ") + claimed + " " + file);
                for (TestAssertion found : result.getTestAssertions()) {
                    System.out.println("  " + found.getRuleId().getClause() + " " + found.getMessage());
                }
                all &= holds;
            }
        }
        System.exit(all ? 0 : 1);
    }
}
